# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Services that must stay headless: otherwise the names of the pods that have them as subdomain no longer resolve."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.immutable import is_headless
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.retained_services import subdomains
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def headless_services(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding for each Service that would no longer be headless, although pods have it as their subdomain."""
    changed = [step for step in draft.applies if step.key.kind == "Service" and _ends_being_headless(step)]
    used = subdomains(draft.inputs.cluster, draft.inputs.live) if changed else {}
    return tuple(_finding(step) for step in changed if step.key.name in used)


def _ends_being_headless(step: Step) -> bool:
    return step.live is not None and is_headless(step.live) and not is_headless(step.manifest)


def _finding(step: Step) -> Finding:
    message = (
        f"{step.key} must stay headless (clusterIP: None): it is the subdomain of the pods of group {step.group}, and "
        "their names would no longer resolve. Set it back, and specify the other Service under another name as an "
        "additional entry of services; or stop the group (stopped: true), and change the Service when it has no pods. "
        "It blocks no other object."
    )
    return Finding(reasons.INVALID_SPEC, message, step.group, object=str(step.key))
