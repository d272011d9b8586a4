# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the module datasource: segments that are used, unused or deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item, items_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.wait_for_all import Wait, wait_for_all
from ansible_collections.druidops.druid.plugins.module_utils._resources.datasource import FILES_MAY_REMAIN, Datasource
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit, audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import all_specs
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import has_ended, status_or_error
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout
from ansible_collections.druidops.druid.plugins.module_utils._spec.segments import (
    ETERNITY,
    interval_of,
    parsed,
    valid_datasource,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import failure, progress
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, DruidError, InvalidInput


def ensure_datasource(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end."""
    author = audit(params["author"], params["comment"])
    report = ModuleResult("datasources", "datasource", "segments", items_of(params, "datasources"), id="datasource")
    targets = [*_targets(report)]
    specs = cache(partial(all_specs, client))
    deletions: list[tuple[Item, Datasource]] = []
    for target in targets:
        with report.part_of(target.item):
            target.require_no_contradiction(targets)
            datasource = _ensure_one(client, target, author, specs, report, check_mode)
            if datasource.task and not check_mode:
                deletions.append((target.item, datasource))
    if params["wait"] and deletions:
        _wait(client, deletions, report, params["wait_timeout"])
    return report.result()


@dataclass(frozen=True)
class _Target:
    """The segments that an item is about. ``interval``: in Druid's form, None for all of time."""

    item: Item
    datasource: str
    interval: str | None
    state: str

    def require_no_contradiction(self, targets: Iterable[_Target]) -> None:
        """InvalidInput if another item desires another state of the same segments: each run would change them twice."""
        mine = parsed(self.interval or ETERNITY)
        for other in targets:
            is_same = other.datasource == self.datasource and mine.overlaps(parsed(other.interval or ETERNITY))
            if is_same and other.state != self.state:
                problem = f"the interval overlaps with that of {other.item.place}, which has state: {other.state}"
                raise InvalidInput("state", self.state, f"{problem}. Set the same state, or other intervals")


def _targets(report: ModuleResult) -> Iterator[_Target]:
    for item in report.items:
        with report.part_of(item):
            name, interval = valid_datasource(item.options.get("datasource")), interval_of(item.options.get("interval"))
            state = item.options.get("state")
            if state is None:
                raise InvalidInput("state", NOT_SET, "set used, unused or deleted")
            report.identify(item, name, interval or "")
            item.title = f"{name} {interval}" if interval else ""
            yield _Target(item, name, interval, state)


def _ensure_one(
    client: DruidClient,
    target: _Target,
    author: Audit,
    specs: Callable[[], Mapping[str, Any]],
    report: ModuleResult,
    check_mode: bool,
) -> Datasource:
    item, used_segments = target.item, target.item.options["used_segments"]
    datasource = Datasource(
        client, target.datasource, target.interval, target.state, specs, used_segments=used_segments, audit=author
    )
    change = converge(datasource, check_mode=check_mode)
    item.result.update({"interval": target.interval, **({"task": datasource.task} if datasource.task else {})})
    report.record(item, change, datasource.warnings)
    return datasource


def _wait(client: DruidClient, deletions: list[tuple[Item, Datasource]], report: ModuleResult, timeout: float) -> None:
    """Wait for the tasks to end, and verify that they have left nothing."""
    waits = [
        Wait(partial(status_or_error, client, datasource.task), has_ended, f"task {datasource.task!r} to end")
        for _item, datasource in deletions
    ]
    wait_for_all(waits, timeout)
    for (item, datasource), wait in zip(deletions, waits, strict=True):
        with report.part_of(item):
            _require_success(datasource.task, wait)
            now = item.result["segments"] = datasource.count()
            if datasource.is_left(now):
                raise DruidError(
                    f"Task {datasource.task!r} has ended, and {now['used']} segments are used and {now['unused']} are "
                    "unused: they were added or marked meanwhile. Stop what adds them, and run the module again."
                )


def _require_success(task: str, wait: Wait) -> None:
    try:
        status = wait.outcome()
    except WaitTimeout as timeout:
        raise DruidError(f"{timeout} {_why_not_ended(timeout.last)}") from None
    if status.get("statusCode") == "FAILED":
        raise DruidError(f"Task {task!r} failed: {failure(status, {})}. {FILES_MAY_REMAIN}")


def _why_not_ended(status: Mapping[str, Any]) -> str:
    if "error" in status:
        return str(status["error"])
    phase = progress(status, {})["phase"]
    if phase == "WAITING":
        return "It is waiting: another task has locked a part of the interval."
    return f"It is {phase}. The next run waits for it again, and submits no other one."
