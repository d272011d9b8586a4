# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Services that one group takes from another one, as when two groups exchange their names in one edit.

A Service selects the pods of one group. While pods of another group have it as their subdomain, their names would no
longer resolve.
"""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.retained_services import (
    next_subdomains,
    subdomains,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def taken_services(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding for each group that takes a Service which pods of other groups have as their subdomain.

    It blocks the whole group: its next pods would have a subdomain that does not resolve them.
    """
    taken = [step for step in draft.applies if step.key.kind == "Service" and _selects_other_pods(step)]
    if not taken:
        return ()
    cluster, live = draft.inputs.cluster, draft.inputs.live
    used, coming = subdomains(cluster, live), next_subdomains(cluster, live)
    found = ((step, {*used.get(step.key.name, ()), *coming.get(step.key.name, ())} - {step.group}) for step in taken)
    return tuple(_finding(step, others) for step, others in found if others)


def _selects_other_pods(step: Step) -> bool:
    return step.live is not None and _group_of(step.live) != _group_of(step.manifest)


def _group_of(service: Manifest) -> str | None:
    selector: dict[str, str] = service["spec"].get("selector") or {}
    return selector.get(names.GROUP_LABEL)


def _finding(step: Step, others: set[str]) -> Finding:
    message = (
        f"{step.key} cannot be assigned to group {step.group} yet: pods of group {', '.join(sorted(others))} have it "
        "as their subdomain, and their names would no longer resolve. Recreate these pods first: then their subdomain "
        "is the first Service of their own group. If two groups exchange their Services, specify another name for one "
        f"of them until its pods have been recreated. Nothing of group {step.group} is changed."
    )
    return Finding(reasons.INVALID_SPEC, message, step.group)
