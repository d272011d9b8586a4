# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module supervisor does: one supervisor, or many that are read together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._converge import Change, converge
from ansible_collections.druidops.druid.plugins.module_utils._errors import BadInput, DruidError, Incomplete
from ansible_collections.druidops.druid.plugins.module_utils._masking import masked, masked_pair
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import Supervisor, all_specs
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_offsets import reset
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_status import (
    awaited,
    status_of,
    summary,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import STREAMS, canonical
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor_change import Wanted
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor_id import (
    OWN_IDS,
    supervisor_id,
    with_id,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.text import mapping_of
from ansible_collections.druidops.druid.plugins.module_utils._wait import TimedOut, condition, wait_until


@dataclass
class Report:
    """What was done, in the form of the module's result. No secret is in it."""

    supervisors: list[dict[str, Any]] = field(default_factory=list)
    diff: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, wanted: Wanted, change: Change, warnings: Iterable[str]) -> dict[str, Any]:
        """Add one supervisor; the entry, to which more can be added."""
        before, after = masked_pair(change.before, change.after)
        if change.changed:
            title = f"supervisor {wanted.id}"
            self.diff.append(
                {"before": before or "", "after": after or "", "before_header": title, "after_header": title}
            )
        self.warnings.extend(warnings)
        entry = {"id": wanted.id, "changed": change.changed, "spec": masked(change.after)}
        self.supervisors.append(entry)
        return entry

    def result(self) -> dict[str, Any]:
        """Return what the module returns; ``problems`` make it fail."""
        changed = any(entry["changed"] for entry in self.supervisors)
        return {"changed": changed, "supervisors": self.supervisors, "diff": self.diff, "warnings": self.warnings}


def ensure(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the result of the module. One that fails does not stop the others; Incomplete is raised then."""
    is_met = condition(params["wait_for"]) if params["wait_for"] else None
    many = params["supervisors"] is not None
    items = params["supervisors"] if many else [params]
    wanted = [_wanted(client, item, params["state"]) for item in items]
    _refuse_twice(wanted)
    specs = all_specs(client) if many else None
    report = Report()
    for each in wanted:
        try:
            _ensure_one(client, each, specs, params, is_met, report, check_mode)
        except DruidError as error:
            report.problems.append(str(error))
    if report.problems:
        raise Incomplete(" ".join(report.problems), report.result())
    return report.result()


def _ensure_one(
    client: DruidClient,
    wanted: Wanted,
    specs: Mapping[str, Any] | None,
    params: Mapping[str, Any],
    is_met: Any,
    report: Report,
    check_mode: bool,
) -> None:
    supervisor = Supervisor(client, wanted, specs)
    change = converge(supervisor, check_mode=check_mode)
    entry = report.add(wanted, change, supervisor.warnings)
    if params["reset"] or params["reset_offsets"]:
        entry["changed"] = entry["reset"] = True
    if check_mode or change.after is None:
        return
    if entry.get("reset"):
        reset(client, wanted.id, change.after, params["reset_offsets"])
    if params["wait"]:
        entry["status"] = _waited(client, wanted.id, change.after, params, is_met)


def _waited(client: DruidClient, supervisor: str, spec: Any, params: Mapping[str, Any], is_met: Any) -> dict[str, Any]:
    expression = params["wait_for"] or awaited(spec)
    try:
        status = wait_until(
            lambda: status_of(client, supervisor),
            is_met or condition(expression),
            timeout=params["wait_timeout"],
            awaited=f"{expression} of supervisor {supervisor!r}",
        )
    except TimedOut as timeout:
        raise DruidError(f"{timeout} At last {summary(masked(timeout.last))}.") from None
    return dict(masked(status))


def _wanted(client: DruidClient, item: Mapping[str, Any], state: str) -> Wanted:
    is_present = (item.get("state") or state) == "present"
    spec = None if item.get("spec") is None else canonical(mapping_of(item["spec"], "spec"))
    if spec is None:
        if not item.get("id"):
            raise BadInput("id", None, "name the supervisor by its id, or state its spec")
        return Wanted(item["id"], None, item.get("suspended"), is_present)
    # one request for the version, and only where the answer matters
    has_own_ids = (
        spec.get("type") in STREAMS and (spec.get("id") or item.get("id")) is not None and client.supports(*OWN_IDS)
    )
    supervisor = supervisor_id(spec, item.get("id"), has_own_ids=has_own_ids)
    return Wanted(supervisor, with_id(spec, supervisor, has_own_ids=has_own_ids), _suspension(spec, item), is_present)


def _suspension(spec: Mapping[str, Any], item: Mapping[str, Any]) -> bool | None:
    stated, in_spec = item.get("suspended"), spec.get("suspended")
    if stated is not None and in_spec is not None and stated != in_spec:
        raise BadInput("suspended", stated, f"the spec says suspended: {str(in_spec).lower()}; state one of them")
    return stated


def _refuse_twice(wanted: list[Wanted]) -> None:
    ids = [each.id for each in wanted]
    for twice in sorted({each for each in ids if ids.count(each) > 1}):
        raise BadInput("supervisors", twice, "two of them have this id; one supervisor has one spec")
