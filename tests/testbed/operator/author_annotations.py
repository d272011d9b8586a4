# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the author of a resource may say about its runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from .go_duration import seconds

_LOG = logging.getLogger("annotations")
_PREFIX = "ansible.sdk.operatorframework.io/"


def reconcile_period(resource: Mapping[str, Any], default: float) -> float:
    """Seconds until the next run; a ValueError for what is no duration."""
    text = _annotation(resource, "reconcile-period")
    return default if text is None else seconds(text)


def max_runner_artifacts(resource: Mapping[str, Any], default: int) -> int:
    """How many runs' artifacts are kept, 0 for all."""
    return _number(resource, "max-runner-artifacts", default)


def verbosity(resource: Mapping[str, Any], default: int) -> int:
    """How many v ansible-playbook is given, without a bound."""
    return _number(resource, "verbosity", default)


def _annotation(resource: Mapping[str, Any], name: str) -> str | None:
    return (resource["metadata"].get("annotations") or {}).get(_PREFIX + name)


def _number(resource: Mapping[str, Any], name: str, default: int) -> int:
    text = _annotation(resource, name)
    if text is None:
        return default
    try:
        return int(text)
    except ValueError:
        _LOG.info("ignored annotation=%s value=%r: no number", _PREFIX + name, text)
        return default
