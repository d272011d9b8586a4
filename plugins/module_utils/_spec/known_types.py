# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The types of supervisors and tasks of Druid and its own extensions, and the remedy for another type. Pure."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.text import nearest

# SupervisorSpec, SupervisorModule, and the modules of the extensions (Druid 27 to 39)
SUPERVISOR_TYPES = ("kafka", "kinesis", "rabbit", "autocompact", "scheduled_batch", "derivativeDataSource")
# Task, and the modules of the extensions (Druid 27 to 39), without those that Druid itself submits for a supervisor
# or another task
TASK_TYPES = (
    *("index_parallel", "index", "index_hadoop", "compact", "kill", "move", "archive", "restore", "noop"),
    "query_controller",
)


def reject_task_type(kind: object) -> None:
    """InvalidInput if the type of a specification of a supervisor is that of a task."""
    if kind in TASK_TYPES:
        raise InvalidInput("spec.type", kind, "is a type of task, not of supervisor. Use the module task for this spec")


def reject_supervisor_type(kind: object) -> None:
    """InvalidInput if the type of a specification of a task is that of a supervisor."""
    if kind in SUPERVISOR_TYPES:
        raise InvalidInput(
            "spec.type", kind, "is a type of supervisor, not of task. Use the module supervisor for this spec"
        )


def reject_unknown_supervisor(kind: str) -> None:
    """InvalidInput for a type that Druid does not have. That of another extension needs an id, and is sent with it."""
    if kind not in SUPERVISOR_TYPES:
        guess = nearest(kind, SUPERVISOR_TYPES)
        question = f"Did you mean {guess!r}? " if guess else ""
        remedy = f"is not a type of supervisor in Druid. {question}For a type of another extension, set id"
        raise InvalidInput("spec.type", kind, remedy)
