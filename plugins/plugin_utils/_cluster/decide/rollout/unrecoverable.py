# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods of the current revision that will not start by themselves: to wait for them is of no use.

Those of an earlier revision may be about to be replaced, and those of a group whose restart is pending, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.pod_problems import (
    cannot_recover,
    failure,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import (
    REVISION_LABEL,
    TEMPLATE_LABEL,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating


def unrecoverable(cluster: Cluster, observed: Observed, changing: Collection[str], now: datetime) -> str:
    """Return why the first such pod does not start; empty if there is none. `changing`: groups that restart anyway."""
    groups = (group for group in cluster.groups if group.key not in changing)
    failing = (pod for group in groups for pod in failing_pods(group, observed, now))
    return next((text for pod in failing for text in failure(pod, observed.explanations)), "")


def failing_pods(group: Group, observed: Observed, now: datetime) -> Iterator[Manifest]:
    """Yield the pods of the current revision that will not start by themselves."""
    yield from (pod for pod in current_pods(group, observed) if cannot_recover(pod, now))


def current_pods(group: Group, observed: Observed) -> Iterator[Manifest]:
    """Yield the pods of the revision that the workload specifies; none until its controller has observed it."""
    workload = observed.workload(group)
    if workload is None:
        return
    status, pods = workload.get("status") or {}, [pod for pod in observed.pods_of(group) if not is_terminating(pod)]
    if status.get("observedGeneration", 0) < workload["metadata"]["generation"]:
        return
    is_set = workload["kind"] == "StatefulSet"
    label, revision = (REVISION_LABEL, status.get("updateRevision")) if is_set else (TEMPLATE_LABEL, _latest(pods))
    yield from (pod for pod in pods if revision and _label(pod, label) == revision)


def _latest(pods: Sequence[Manifest]) -> str | None:
    """Return the template of the last created pod of a Deployment: it creates only those of the current one."""
    last = max(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp") or ""), default=None)
    return None if last is None else _label(last, TEMPLATE_LABEL)


def _label(pod: Manifest, name: str) -> str | None:
    label: str | None = (pod["metadata"].get("labels") or {}).get(name)
    return label
