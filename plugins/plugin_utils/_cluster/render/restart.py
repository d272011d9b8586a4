# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A requested restart: an annotation of the resource with a time, which becomes an annotation of the pods.

It is the later one of the requested time and the time of the last restart, so an annotation that is removed or set back
restarts nothing.
"""

from __future__ import annotations

import re
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})")


def restarted_at(group: Group, preserved: Preserved) -> str | None:
    """Return the annotation of the group's pods; None if no restart was ever requested."""
    requested = (group.cluster.annotations.get(name) for name in _annotations(group))
    found = [text for text in (preserved.restarted_at, *requested) if text and _time(text) is not None]
    return max(found, key=lambda text: _time(text) or datetime.min, default=preserved.restarted_at)


def restart_warnings(group: Group) -> list[str]:
    """Return a warning for each request whose value is not a time."""
    requested = ((name, group.cluster.annotations.get(name)) for name in _annotations(group))
    return [
        f"annotation {name} must be a time such as 2026-01-31T12:00:00Z, and is ignored"
        for name, text in requested
        if text is not None and _time(text) is None
    ]


def _annotations(group: Group) -> tuple[str, str]:
    return names.RESTARTED_AT_ANNOTATION, f"{names.GROUP_RESTARTED_AT_PREFIX}{group.key}"


def _time(text: str) -> datetime | None:
    if not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
