# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the user paused a resource, and the changes that are pending meanwhile. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

# The Go operator's.
IGNORED_ANNOTATION = "druid.apache.org/ignored"


def pause_finding(annotations: Mapping[str, str], spec: Mapping[str, Any]) -> Finding | None:
    """Return the finding of a paused resource, by annotation or spec.paused; None if it is not paused."""
    if annotations.get(IGNORED_ANNOTATION) == "true":
        message = f"Paused by the annotation {IGNORED_ANNOTATION}. Remove it to apply changes."
        return Finding(reasons.IGNORED, message, is_problem=False)
    if spec.get("paused"):
        message = "Paused by spec.paused. Remove it to apply changes."
        return Finding(reasons.PAUSED, message, is_problem=False)
    return None


def pending_changes(titles: Sequence[str]) -> str:
    """Return the number of pending changes, with their titles."""
    return f"{len(titles)} pending change{'' if len(titles) == 1 else 's'}: {join_limited(titles)}."
