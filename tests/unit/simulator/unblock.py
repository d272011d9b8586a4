# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a user removes so that a cluster can converge: nothing that the program has to cope with."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.tests.simulator.kubelet import Failure
from ansible_collections.druidops.druid.tests.simulator.specification import Cluster, Group, workload_name
from ansible_collections.druidops.druid.tests.unit.simulator.environment import BUDGET
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject


def unblock(subject: Subject) -> None:
    """Remove webhooks, budgets of others, failures and the pause, and correct what is rejected."""
    world = subject.world
    world.server.admit = type(world.server).admit
    world.broken_images = _remaining(world.broken_images, subject.cluster)
    for budget in world.store.of_kind(BUDGET):
        if budget["metadata"]["name"].startswith("foreign-"):
            world.store.delete(budget)
    if subject.cluster is not None:
        groups = {key: _corrected(subject, key, group) for key, group in subject.cluster.groups.items()}
        corrected = replace(subject.cluster, groups=groups, paused=False)
        if corrected != subject.cluster:
            subject.specify(corrected)


def _remaining(failures: dict[str, Failure], cluster: Cluster | None) -> dict[str, Failure]:
    """Return the failures of pods that are not specified any more: they are replaced, unless the user keeps them.

    Only the user can tell whether a pod that runs, and is not ready, is about to be.
    """
    if cluster is None or any(group.partition or group.strategy == "OnDelete" for group in cluster.groups.values()):
        return {}
    return {image: failure for image, failure in failures.items() if image != cluster.image and failure != "unready"}


def _corrected(subject: Subject, key: str, group: Group) -> Group:
    """Return the group with an update strategy that replaces the pods without the volume of an added claim template."""
    name = workload_name(key)
    pods = [pod for pod in subject.world.store.of_kind("Pod") if pod["metadata"]["name"].startswith(f"{name}-")]
    is_lacking = any("more" not in {each["name"] for each in pod["spec"].get("volumes") or ()} for pod in pods)
    if group.has_more_claims and is_lacking and group.kind == "StatefulSet":
        return replace(group, strategy="RollingUpdate", partition=0)
    return group
