# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Druid that does not answer while Historicals are decommissioned: why, since when, and what to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.settings import STRATEGY
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.readiness import group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decommission_record import Entry
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.router import ROUTER
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import state
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.state import Unavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since

# As for a rollout without progress, unless progressDeadlineSeconds is set.
_LASTING_SECONDS = 900
_REASONS = {
    state.NO_ROUTER: reasons.ROUTER_NOT_FOUND,
    state.UNAUTHORIZED: reasons.UNAUTHORIZED,
    state.NOT_READY: reasons.WAITING_FOR_DRUID,
}
_TO_STOP = f"To stop them without moving their segments, remove {STRATEGY}."


class Silence(NamedTuple):
    """Why Druid does not answer: a reason, a message, and whether that is a problem, or only waits for a pod."""

    reason: str
    message: str
    is_problem: bool = True

    def message_of(self, pods: str, has_pods: bool) -> str:
        """Return the message about pods that stay, or about names."""
        return " ".join(filter(None, (pods, self.message, _TO_STOP if has_pods else "")))


def silence_of(missing: Unavailable, record: Iterable[Entry], inputs: Inputs) -> Silence:
    """Return why Druid does not answer. A router that is not ready is a problem when that lasts."""
    reason = _REASONS.get(missing.cause, reasons.DRUID_UNREACHABLE)
    if missing.cause != state.NOT_READY:
        return Silence(reason, missing.message)
    groups = [group for group in inputs.cluster.groups if group.node_type == ROUTER]
    since = _since(groups, record, inputs)
    limits = [int(group.first_present("progressDeadlineSeconds") or _LASTING_SECONDS) for group in groups]
    limit = max(limits, default=_LASTING_SECONDS)
    if since is None or seconds_since(since, inputs.now) < limit:
        return Silence(reason, missing.message, is_problem=False)
    causes = "; ".join(_causes(groups, inputs))
    remark = f"That has been so since {since}{f': {causes}' if causes else ''}. Check the pods of the router."
    return Silence(reasons.DRUID_UNREACHABLE, f"{missing.message} {remark}")


def _since(groups: Iterable[Group], record: Iterable[Entry], inputs: Inputs) -> str | None:
    """Return since when no router is ready: its last pod is not, or there is none; not before it is needed."""
    needed = min((entry.started_at for entry in record), default=None)
    if needed is None:
        return None
    return max((needed, *(_changed(pod) for group in groups for pod in inputs.live.pods_of(group))))


def _changed(pod: Manifest) -> str:
    """Return when the readiness of the pod changed, or the pod was created."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    found = (each.get("lastTransitionTime") for each in conditions if each["type"] == "Ready")
    return str(next(found, None) or pod["metadata"].get("creationTimestamp") or "")


def _causes(groups: Iterable[Group], inputs: Inputs) -> Iterator[str]:
    keys = {group.key for group in groups}
    for found in group_states(inputs.cluster, inputs.live, as_it_is=True):
        if found.key in keys:
            yield found.cause or found.unready or f"group {found.key} has no pods"
