# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run with the inputs of an earlier one of its resource reconciles without the playbook, which is known by then.

The action records its arguments, and what it has read (plugin_utils/_reconcile/record.py). If that is unchanged, the
reads are repeated, and nothing else; otherwise, the cluster is reconciled with the same arguments. The record is of no
use for a run with other inputs, and for one of another resident process.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import pending_run, record, unchanged
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import Task

from . import in_process, restrictions, without_playbook

# A full reconcile follows after this time in seconds, even if nothing has changed; 0: each run is one of the playbook.
PERIOD = "DRUIDOPS_FULL_RECONCILE_PERIOD"
DEFAULT_SECONDS = 600
_PREFIX = "record-"
_KUBECONFIG = "K8S_AUTH_KUBECONFIG"
_UNCHANGED = "Everything that the last full reconcile has read is unchanged: its playbook was not run.\n"
_RECONCILED = "Reconciled with the arguments of the last run: the playbook was not run."
# Runs of another resident process may have been those of another ansible-operator, which watched other kinds.
_SESSION = secrets.token_hex(16)
_TASK_START = "playbook_on_task_start"


class _Playbook(NamedTuple):
    """A playbook that only reconciles: its kind, and the actions of its tasks."""

    kind: Kind[Any, Any]
    actions: tuple[str, ...]


_PLAYBOOKS: Mapping[str, _Playbook] = {
    "operator_druid.yml": _Playbook(DRUID, ("druidops.druid.cluster", without_playbook.REQUEUE)),
    "operator_druid_ingestion.yml": _Playbook(INGESTION, ("druidops.druid.ingestion", without_playbook.REQUEUE)),
}


def run(options: in_process.Options) -> int:
    """Run the playbook, unless what it would do is known; the exit status."""
    limit = restrictions.duration(os.environ.get(PERIOD, ""), DEFAULT_SECONDS)
    playbook = _PLAYBOOKS.get(os.path.basename(options.playbook))
    variables = _content(os.path.join(options.directory, "env", "extravars")) or ""
    if not limit or playbook is None or options.verbosity or restrictions.LEAST_PERIOD in variables:
        return in_process.run(options)
    file = os.path.join(options.directory, f"{_PREFIX}{_inputs(options)}")
    last = record.from_json(_content(file) or "")
    if last is not None and (status := _repeat(playbook.kind, options, last, limit, file)) is not None:
        return status
    _forget(options.directory)
    os.environ[record.FILE] = file
    status = in_process.run(options)
    if status or _actions(options) != playbook.actions:
        # an image derived from ours may have added tasks to the playbook
        _forget(options.directory)
    return status


def _inputs(options: in_process.Options) -> str:
    """A digest of what the run was given; its environment is that of the resident process."""
    variables = os.path.join(options.directory, "env", "extravars")
    files = (variables, os.environ.get(_KUBECONFIG, ""), options.playbook)
    return hashlib.sha256(json.dumps((_SESSION, *map(_content, files))).encode()).hexdigest()


def _content(file: str) -> str | None:
    with suppress(OSError):
        return Path(file).read_text(encoding="utf-8")
    return None


def _repeat(
    kind: Kind[Any, Any], options: in_process.Options, last: record.Record, limit: float, file: str
) -> int | None:
    """End the run without the playbook; None if that is not possible."""
    address = without_playbook.address(options.directory)
    reads = last.reads
    if reads and 0 <= time.monotonic() - reads.ended < limit and unchanged.repeat(kind, last.arguments, reads):
        return without_playbook.end(options, address, without_playbook.ENDED, _UNCHANGED)
    os.environ[record.FILE] = file
    printed = [_RECONCILED]
    returned = _reconcile(kind, last.arguments, printed)
    # what the playbook would do then, or report, is left to it
    if returned is None or returned.get("failed") or returned.get("skipped"):
        return None
    output = "".join(f"{line}\n" for line in (*printed, *returned["plan"], returned.get("msg")) if line)
    seconds = returned.get("requeue_after")
    event = without_playbook.ENDED if seconds is None else without_playbook.requeue(f"{seconds}s")
    return without_playbook.end(options, address, event, output)


def _reconcile(kind: Kind[Any, Any], recorded: Mapping[str, Any], printed: list[str]) -> Mapping[str, Any] | None:
    """The result of the task; None after an error, with which the playbook fails, too."""
    arguments = {**recorded, "cache_kubeconfig": os.environ.get(_KUBECONFIG)}
    in_process.use_own_kubeconfig()
    pending_run.report_start()
    try:
        return Task(kind, arguments, os.path.abspath, printed.append, printed.append).run()
    except Exception:  # noqa: BLE001 - of any kind
        traceback.print_exc()
        return None


def _forget(directory: str) -> None:
    for file in Path(directory).glob(f"{_PREFIX}*"):
        file.unlink(missing_ok=True)


def _actions(options: in_process.Options) -> tuple[str, ...]:
    """The actions of the tasks that were started, in their order; one that was skipped has been started, too."""
    started = [*_events(Path(options.directory, "artifacts", options.ident, "job_events"))]
    return tuple(each["event_data"]["task_action"] for each in sorted(started, key=lambda each: each["counter"]))


def _events(directory: Path) -> Iterator[Mapping[str, Any]]:
    for file in directory.glob("*.json"):
        event = json.loads(file.read_text(encoding="utf-8"))
        if event["event"] == _TASK_START:
            yield event
