# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is logged of the events of a run."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_LOG = logging.getLogger("events")
_TASKS = {"playbook_on_task_start", "runner_on_failed"}


def told_of(events: Iterable[Mapping[str, Any]], level: str, run: str) -> Iterator[Mapping[str, Any]]:
    """The same events; a line for those that the level (nothing, tasks or everything) is about."""
    for event in events:
        name = event.get("event")
        if level == "everything" or (level != "nothing" and name in _TASKS):
            _LOG.info("event=%s task=%r %s", name, (event.get("event_data") or {}).get("task"), run)
        yield event
