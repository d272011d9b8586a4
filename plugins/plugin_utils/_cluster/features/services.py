# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Services that pods have as their subdomain: they stay, stay headless, and no other group takes them.

Otherwise the names of running pods, which Druid announces, would no longer resolve.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_objects, is_headless
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.pod_references import next_subdomains, subdomains
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan


class Services(Feature):
    """Blocks what would make the names of running pods unresolvable, and warns about Services that stay for them."""

    def judge(self, draft: DraftPlan) -> Iterator[Finding]:
        """Yield a finding for each Service that would not be headless any more, and for each group that takes one."""
        yield from headless_services(draft)
        yield from taken_services(draft)

    def warnings(self, inputs: Inputs) -> tuple[str, ...]:
        """Return a warning for each Service that stays although it was removed from the spec."""
        return retained_services(inputs)


def retained_services(inputs: Inputs) -> tuple[str, ...]:
    """Return a warning for each Service that stays although it was removed from the spec."""
    desired = {key_of(manifest) for _group, manifest in desired_objects(inputs.desired)}
    used = subdomains(inputs.cluster, inputs.observed)
    keys = (key_of(live) for live in inputs.observed.of_kind("Service"))
    retained = sorted(key.name for key in keys if key not in desired and used.get(key.name))
    return tuple(_warning(name, ", ".join(sorted(used[name]))) for name in retained)


def _warning(name: str, groups: str) -> str:
    return (
        f"Service {name} was removed from the spec, but is retained until no pod of group {groups} has it as its "
        "subdomain. A pod that is recreated has the first Service of its group as its subdomain."
    )


def headless_services(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return a finding for each Service that would no longer be headless, although pods have it as their subdomain."""
    changed = [step for step in draft.applies if step.key.kind == "Service" and _ends_being_headless(step)]
    used = subdomains(draft.inputs.cluster, draft.inputs.observed) if changed else {}
    return tuple(_no_longer_headless(step) for step in changed if step.key.name in used)


def _ends_being_headless(step: Step) -> bool:
    return step.live is not None and is_headless(step.live) and not is_headless(step.manifest)


def _no_longer_headless(step: Step) -> Finding:
    message = (
        f"{step.key} must stay headless (clusterIP: None): it is the subdomain of the pods of group {step.group}, and "
        "their names would no longer resolve. Set it back, and specify the other Service under another name as an "
        "additional entry of services; or stop the group (stopped: true), and change the Service when it has no pods. "
        "It blocks no other object."
    )
    return Finding(reasons.INVALID_SPEC, message, step.group, object=str(step.key))


def taken_services(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return a finding for each group that takes a Service which pods of other groups have as their subdomain.

    It blocks the whole group: its next pods would have a subdomain that does not resolve them.
    """
    taken = [step for step in draft.applies if step.key.kind == "Service" and _selects_other_pods(step)]
    if not taken:
        return ()
    cluster, live = draft.inputs.cluster, draft.inputs.observed
    used, coming = subdomains(cluster, live), next_subdomains(cluster, live)
    pairs = ((step, {*used.get(step.key.name, ()), *coming.get(step.key.name, ())} - {step.group}) for step in taken)
    return tuple(_not_yet(step, others) for step, others in pairs if others)


def _selects_other_pods(step: Step) -> bool:
    return step.live is not None and _group_of(step.live) != _group_of(step.manifest)


def _group_of(service: Manifest) -> str | None:
    selector: dict[str, str] = service["spec"].get("selector") or {}
    return selector.get(names.GROUP_LABEL)


def _not_yet(step: Step, others: set[str]) -> Finding:
    message = (
        f"{step.key} cannot be assigned to group {step.group} yet: pods of group {', '.join(sorted(others))} have it "
        "as their subdomain, and their names would no longer resolve. Recreate these pods first: then their subdomain "
        "is the first Service of their own group. If two groups exchange their Services, specify another name for one "
        f"of them until its pods have been recreated. Nothing of group {step.group} is changed."
    )
    return Finding(reasons.INVALID_SPEC, message, step.group)
