# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A step of each type that writes an object, for tests."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import ChangeFinalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.recreate import Recreate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step


def step_of(verb: str, manifest: dict[str, Any], group: str | None = None) -> Step:
    """Return the step that creates, updates, recreates or deletes an object, or ("patch") changes its finalizer."""
    if verb == "create":
        return Apply(manifest=manifest, group=group)
    if verb == "patch":
        return ChangeFinalizer(group=group, live=manifest)
    if verb == "delete":
        return Delete(group=group, live=manifest)
    return {"update": Apply, "recreate": Recreate}[verb](manifest=manifest, group=group, live=manifest)
