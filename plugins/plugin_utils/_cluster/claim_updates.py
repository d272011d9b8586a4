# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The change of single fields of a PVC, and what becomes of the PVCs of a StatefulSet that is deleted or scaled down.

Those whose persistentVolumeClaimRetentionPolicy was Retain are never orphaned. The policy is deleted with the
StatefulSet, so the PVCs have to say it: also while deleteOrphanPvc is false, which may change later, and if the group
becomes a Deployment, because it may be removed later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import (
    KEEPING,
    is_older,
    mark_of,
    place_of,
    unmarking,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import group_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workloads import (
    retains_explicitly,
    retains_scaled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import Patch
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import first_ordinal
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Operation

# Path in the PVC -> value, None: removed.
Changes = Mapping[tuple[str, ...], Any]


class Notice(NamedTuple):
    """What a step means for a PVC: the reason and message of its event; the plan has the message, too."""

    reason: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Noticed(Step):
    """A step whose line of the plan and event have the same notice."""

    notice: Notice

    @property
    def remark(self) -> str:
        return f" ({self.notice.message})"

    @property
    def operation(self) -> Operation:
        return super().operation._replace(reason=self.notice.reason)

    @property
    def message(self) -> str:
        return f"PVC {self.key.name}: {self.notice.message}."


@dataclass(frozen=True, kw_only=True)
class UpdateClaim(Noticed, Patch):
    """The change of a PVC, if it still has the values that were read."""

    prepares: ClassVar[bool] = True

    @property
    def verdicts(self) -> Literal["writes", "patches"] | None:
        return None if self.group is None else "patches"


def updated_claim(live: Manifest, changes: Changes, notice: Notice, group: str | None) -> UpdateClaim:
    """Return the step that changes these fields of a PVC."""
    patch, after = patch_of(live, changes)
    return UpdateClaim(group=group, live=live, after=after, patch=patch, notice=notice)


def patch_of(live: Manifest, changes: Changes) -> tuple[list[dict[str, Any]], Manifest]:
    """Return the JSON patch, which tests the values that were read, and the PVC afterwards."""
    patch: list[dict[str, Any]] = [{"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]}]
    after = deepcopy(live)
    for path, value in changes.items():
        parent, pointer = after, ""
        for part in path[:-1]:
            pointer += f"/{_escaped(part)}"
            if not isinstance(parent.get(part), dict):
                # Another client may have added the mapping: then the test fails.
                patch += [{"op": "test", "path": pointer, "value": None}, {"op": "add", "path": pointer, "value": {}}]
                parent[part] = {}
            parent = parent[part]
        pointer += f"/{_escaped(path[-1])}"
        if path[-1] in parent or path[0] == "spec":
            patch.append({"op": "test", "path": pointer, "value": parent.get(path[-1])})
        if value is None:
            patch.append({"op": "remove", "path": pointer})
            parent.pop(path[-1], None)
        else:
            patch.append({"op": "add", "path": pointer, "value": value})
            parent[path[-1]] = value
    return patch, after


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def kept_claims(stateful_set: Manifest, group: str | None, claims: Iterable[Manifest]) -> Iterator[UpdateClaim]:
    """Yield the step that keeps a PVC, for each PVC of a StatefulSet that is deleted.

    `group` is None if the group was removed from the spec. A PVC that was orphaned before stays so; a mark that is not
    trusted, such as that of the Go operator, does not show that.
    """
    if not retains_explicitly(stateful_set):
        return
    workload = stateful_set["metadata"]["name"]
    for live in claims:
        mark = mark_of(live)
        is_orphaned = mark.since is not None
        if _is_of(live, workload) and not (is_terminating(live) or is_orphaned or mark.is_kept):
            text = "is not orphaned: persistentVolumeClaimRetentionPolicy of its group is Retain"
            yield updated_claim(live, {**unmarking(live), **KEEPING}, Notice(reasons.PVC_UPDATED, text), group)


def _is_of(claim: Manifest, workload: str) -> bool:
    """True for a PVC that may be orphaned with this workload: by its label and its name."""
    place = place_of(claim["metadata"]["name"])
    return group_of(claim) == workload and place is not None and place[0].endswith(f"-{workload}")


def orphaned_by(
    cluster: Cluster, stateful_set: Manifest, replicas: int, claims: Iterable[Manifest], since: str | None
) -> list[str]:
    """Return those of the PVCs that are orphaned once the StatefulSet has this number of replicas, or is removed.

    `since`: when the cluster was created.
    """
    if not cluster.deletes_orphans or cluster.stopped:
        return []
    deletable = (each for each in claims if not is_older(each, since) and not mark_of(each).is_kept)
    names = [each["metadata"]["name"] for each in deletable]
    found = (each for each in cluster.groups if each.unique_name == stateful_set["metadata"]["name"])
    group = next(found, None)
    if group is None:
        return [] if retains_explicitly(stateful_set) else names
    if group.stopped or group.is_deployment or retains_scaled(group) or not replicas:
        return []
    needed = first_ordinal(stateful_set) + max(replicas, group.max_replicas)
    places = ((name, place_of(name)) for name in names)
    return [name for name, place in places if place is not None and place[1] >= needed]
