# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A submission of a batch that was recorded, and then interrupted, before the spec was edited again. Pure.

The record has the attempt before Druid does. If the operator was stopped in between, the last spec that ran is the one
before: when it is specified again, it does not run again. So the record keeps what it replaced until Druid has the new
task.
"""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import current
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    ReplacedTask,
    with_task,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest


def replaced_task(ingestion: Ingestion, record: LastApplied) -> ReplacedTask | None:
    """Return what the next attempt replaces, None if that is an attempt of the same spec, or nothing."""
    task = record.task
    if task is None or task.phase == "unrecorded":
        return None
    if task.phase == "submitting":
        return record.replaced
    is_retry = current(ingestion, record) is not None
    return None if is_retry else ReplacedTask(_digest_of(record), record.id, task, record.revision)


def may_be_interrupted(ingestion: Ingestion, record: LastApplied) -> bool:
    """True if Druid has to be asked whether it has the recorded task, which is one of another spec."""
    if ingestion.is_supervisor or record.task is None:
        return False
    return record.task.phase == "submitting" and current(ingestion, record) is None


def without_interrupted(ingestion: Ingestion, record: LastApplied, is_in_druid: bool) -> LastApplied:
    """Return such a record with what ran last, if that is known: the recorded task, or the one that it replaced."""
    if is_in_druid:
        return replace(with_task(record, phase="submitted"), replaced=None)
    last, here = record.replaced, {"type": ingestion.type, "spec": ingestion.document}
    if last is None or last.specified != digest(here):
        return record
    # The rest was not applied before the submission, but is removed if it was.
    specified = {**record.specified, **here}
    return replace(record, specified=specified, id=last.id, task=last.task, revision=last.revision, replaced=None)


def _digest_of(record: LastApplied) -> str:
    return digest({name: record.specified.get(name) for name in ("type", "spec")})
