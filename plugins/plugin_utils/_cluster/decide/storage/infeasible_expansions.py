# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Expansions that the storage driver has given up: it reports that they are infeasible, in the status of the PVC."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.group_claims import GroupClaim
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.pvc_expansion import growing
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

_FAILURES = ("ControllerResizeError", "NodeResizeError")


def infeasible_expansions(inputs: Inputs) -> tuple[Finding, ...]:
    """Return a finding for each PVC that cannot grow, although its storage class allows it. It blocks nothing else."""
    return tuple(finding for group in inputs.cluster.groups for finding in _found(growing(group, inputs)))


def _found(claims: tuple[GroupClaim, ...]) -> Iterator[Finding]:
    for claim in claims:
        if claim.is_infeasible:
            state = claim.live["status"]["allocatedResourceStatuses"]["storage"]
            size = claim.desired.text if claim.desired else ""
            message = (
                f"{claim.field}: PVC {claim.name} cannot be expanded to {size}: {state}{_reason(claim)}. Lower the "
                "request of the PVC and of the specification to a size that the driver supports, or free capacity."
            )
            key = f"{claim.live['kind']} {claim.name}"
            yield Finding(reasons.VOLUMES_NOT_EXPANDABLE, message, claim.group.key, object=key)


def _reason(claim: GroupClaim) -> str:
    """Return the message of the driver, if there is one."""
    conditions = (claim.live.get("status") or {}).get("conditions") or ()
    messages = (each.get("message") for each in conditions if each["type"] in _FAILURES and each["status"] == "True")
    found = next(filter(None, messages), "")
    return f": {found.rstrip('.')}" if found else ""
