# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What no history may do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import lines
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.tests.simulator.pods import is_ready
from ansible_collections.druidops.druid.tests.simulator.specification import NAMESPACE, workload_name
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, matches
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Converge, Event, Run
from ansible_collections.druidops.druid.tests.unit.simulator.environment import BUDGET
from ansible_collections.druidops.druid.tests.unit.simulator.marked_claims import GRACE, MarkedClaims
from ansible_collections.druidops.druid.tests.unit.simulator.restarts import (
    image_of,
    is_blocked,
    is_complete,
    is_failing,
    is_rolling,
    may_be_evicted,
    replaces_pods,
    restarts,
)
from ansible_collections.druidops.druid.tests.unit.simulator.subject import By, Subject
from ansible_collections.druidops.druid.tests.unit.simulator.unblock import unblock

CLAIM = "PersistentVolumeClaim"
_READY = ("Ready", "True")
# The manager of fields that a HorizontalPodAutoscaler sets.
HPA = "kube-controller-manager"
# Reconciles until nothing changes any more; more than any history needs.
_MAX_RECONCILES = 15
# How long a start is tried before a pod is deleted.
ATTEMPTS = timedelta(seconds=60)
# What is reported about a budget that refuses an eviction for a long time.
REFUSAL = "has not allowed any eviction since"
_NOT_DELETED = ("Event", "ControllerRevision", "StorageClass")


@dataclass
class Observer:
    """Plays a history, and asserts after each action what must hold. `by` reconciles until the cluster converges."""

    by: By = "operator"
    subject: Subject = field(default_factory=Subject)
    sizes: dict[str, int] = field(default_factory=dict)
    marked: MarkedClaims = field(init=False)

    def __post_init__(self) -> None:
        self.marked = MarkedClaims(self.subject)

    def play(self, history: Sequence[Event]) -> None:
        """Play the history, let the cluster converge, and delete it."""
        for action in history:
            self.act(action)
        self.converge()

    def act(self, action: Event) -> None:
        """Carry out an action."""
        if isinstance(action, Converge):
            self.converge()
            return
        claims, status, workloads = self._claims_before(), self._status(), self._workloads()
        pods, failing = self._ready_pods(), self._failing_groups()
        self._evicted_pods({})
        action.act(self.subject)
        self._no_claim_is_lost(claims, str(action))
        if isinstance(action, Run):
            self._one_group_restarts(workloads, pods)
            self._no_later_group_is_newer(workloads, pods, failing)
            if action.fault is None and action.ages is None:
                self._ready_pods_are_there()
        self._status_is_not_older(status)

    def converge(self) -> None:
        """Remove what blocks the cluster, reconcile until nothing changes, and assert that all is as specified."""
        world = self.subject.world
        unblock(self.subject)
        for _time in range(_MAX_RECONCILES):
            claims, workloads, pods = self._claims_before(), self._workloads(), self._ready_pods()
            failing = self._failing_groups()
            version = world.store.version
            report = self.subject.run(self.by)
            self._one_group_restarts(workloads, pods)
            self._no_later_group_is_newer(workloads, pods, failing)
            self._ready_pods_are_there()
            self._specified_pods_are_addressable()
            world.settle()
            self._no_claim_is_lost(claims, "a reconcile")
            waits = (self._waits_for_orphans, self._waits_for_attempts, self._waits_for_budgets)
            if world.store.version == version and not any(is_waiting() for is_waiting in waits):
                break
        else:
            raise AssertionError(f"still changing: {_describe(report)}")
        if self.subject.cluster is None:
            assert self.subject.live is None, "the resource is never deleted"
            self.sizes = {}
        else:
            self._plan_is_empty()
            self.all_pods_are_addressable()
            self._groups_have_their_sizes()
        self.subject.documented.forget(self.subject.cluster)

    def delete(self) -> None:
        """Delete the resource: nothing stays but the PVCs that must."""
        cluster = self.subject.cluster
        claims = self.claims().keys()
        self.subject.delete("Background")
        self.converge()
        left = {(each["kind"], each["metadata"]["name"]) for each in self.subject.world.store.objects.values()}
        left = {key for key in left if key[0] not in _NOT_DELETED and "foreign" not in key[1]}
        kept = {(CLAIM, name) for name in claims} if cluster is not None and cluster.keeps_pvcs else set()
        assert left == kept or cluster is None, f"left: {sorted(left - kept)}, lost: {sorted(kept - left)}"

    def claims(self) -> dict[str, str]:
        """Return name and uid of each PVC that is not being deleted."""
        found = self.subject.world.store.of_kind(CLAIM)
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found if not is_terminating(each)}

    def _claims_before(self) -> dict[str, str]:
        """Return the same, and take note of the marked ones."""
        self.marked.look()
        return self.claims()

    def _waits_for_orphans(self) -> bool:
        """Let the grace period pass, if PVCs are marked that are deleted then."""
        found = self.subject.live or {}
        waiting = [each for each in (found.get("status") or {}).get("orphanedPvcs") or () if "deletedAfter" in each]
        is_due = any(each["deletedAfter"] > self.subject.world.clock.timestamp() for each in waiting)
        self.subject.world.clock.advance(GRACE.total_seconds() if is_due else 0)
        return is_due

    def _waits_for_attempts(self) -> bool:
        """Let time pass until the start of pods has been tried for long enough."""
        clock = self.subject.world.clock
        unready = [pod for pod in self.subject.world.store.of_kind("Pod") if not is_ready(pod)]
        created = [datetime.fromisoformat(pod["metadata"]["creationTimestamp"]) for pod in unready]
        is_waiting = any(clock.now() - each < ATTEMPTS for each in created)
        clock.advance(ATTEMPTS.total_seconds() if is_waiting else 0)
        return is_waiting

    def _waits_for_budgets(self) -> bool:
        """Let time pass until a budget has refused an eviction for so long that this is reported."""
        if not self._blocked_groups():
            return False
        clock, now = self.subject.world.clock, self.subject.world.clock.now()
        conditions = [each["status"]["conditions"][0] for each in self.subject.world.store.of_kind(BUDGET)]
        refused = [each["lastTransitionTime"] for each in conditions if each["status"] == "False"]
        is_waiting = any(now - datetime.fromisoformat(since) < ATTEMPTS for since in refused)
        clock.advance(ATTEMPTS.total_seconds() if is_waiting else 0)
        return is_waiting

    def _blocked_groups(self) -> list[str]:
        """Return the groups whose next pod no budget allows to evict, and which lack another one until then."""
        workloads, store = self._workloads(), self.subject.world.store
        groups = self.subject.cluster.groups if self.subject.cluster else ()
        found = ((key, workloads.get(workload_name(key))) for key in groups)
        return [key for key, live in found if live is not None and is_blocked(store, live)]

    def _status(self) -> Manifest:
        live = self.subject.live
        return {"uid": live and live["metadata"]["uid"], **((live or {}).get("status") or {})}

    def _workloads(self) -> dict[str, Manifest]:
        """Return the workloads of the cluster with pods, by name."""
        found = [each for kind in WORKLOADS for each in self.subject.world.store.of_kind(kind)]
        return {each["metadata"]["name"]: each for each in found if each["spec"]["replicas"]}

    def _ready_pods(self) -> dict[str, Manifest]:
        """Return the ready pods by uid."""
        return {each["metadata"]["uid"]: each for each in self.subject.world.store.of_kind("Pod") if is_ready(each)}

    def _failing_groups(self) -> set[str]:
        """Return the names of the workloads of which Kubernetes reports why a pod cannot run."""
        pods = filter(is_failing, self.subject.world.store.of_kind("Pod"))
        return {pod["metadata"]["labels"][names.GROUP_LABEL] for pod in pods}

    def _one_group_restarts(self, before: dict[str, Manifest], pods: dict[str, Manifest]) -> None:
        """Of the groups with ready pods, a reconcile restarts one; and none while pods of another one are not ready."""
        cluster = self.subject.cluster
        evicted = self._evicted_pods(pods)
        assert all(len(found) == 1 for found in evicted.values()), f"several pods of {[*evicted]} are evicted at once"
        if cluster is None or not cluster.rolls:
            return
        after, store = self._workloads(), self.subject.world.store
        restarted = {name for name, live in before.items() if name in after and restarts(store, live, after[name])}
        working = {name for name in restarted if (before[name].get("status") or {}).get("readyReplicas")}
        working |= evicted.keys()
        assert len(working) <= 1, f"{sorted(working)} restart at the same time"
        specified = before.keys() & {workload_name(key) for key in cluster.groups}
        unready = {name for name in specified if not is_complete(store, before[name], pods)}
        for name, found in evicted.items():
            unready -= {name} if may_be_evicted(store, before[name], found, pods) else set()
        assert not (evicted and unready), f"pods of {[*evicted]} are evicted while {sorted(unready)} is not ready"
        # The change of a group can be corrected in the middle of its rollout.
        correctable = {name for name in before if is_rolling(store, before[name])}
        is_due = not unready or working <= unready | correctable
        assert is_due, f"{sorted(working)} restarts while {sorted(unready)} is not ready"

    def _no_later_group_is_newer(
        self, before: dict[str, Manifest], pods: dict[str, Manifest], failing: set[str]
    ) -> None:
        """No group gets the image before an earlier one in the order, unless it is repaired.

        While an earlier one is blocked, that needs the report of Kubernetes that a pod cannot run.
        """
        cluster, store = self.subject.cluster, self.subject.world.store
        if cluster is None or not cluster.rolls:
            return
        order = [workload_name(key) for key in cluster.order_of_restarts]
        after = {name: live for name, live in self._workloads().items() if name in order and name in before}
        same = [name for name in order if name in after and before[name]["kind"] == after[name]["kind"]]
        behind = [name for name in same if image_of(after[name]) != cluster.image and replaces_pods(after[name])]
        for name in same:
            if image_of(before[name]) == image_of(after[name]) or not replaces_pods(after[name]):
                continue
            earlier = [each for each in behind if order.index(each) < order.index(name)]
            is_blocked = any(self.subject.world.server.admit(after[each]) for each in earlier)
            is_repair = name in failing if is_blocked else not is_complete(store, before[name], pods)
            assert not earlier or is_repair, f"{name} gets the new image before {earlier}"

    def _ready_pods_are_there(self) -> None:
        """A cluster that is reported as ready has all of its pods, also if a workload still counts a deleted one."""
        conditions = self._status().get("conditions") or ()
        if self.subject.cluster is None or not any((each["type"], each["status"]) == _READY for each in conditions):
            return
        found = [pod["metadata"]["labels"].get(names.GROUP_LABEL) for pod in self._ready_pods().values()]
        specified = {workload_name(key) for key in self.subject.cluster.groups}
        for name, live in self._workloads().items():
            if name in specified:
                assert found.count(name) >= live["spec"]["replicas"], f"{name} is reported as ready without a pod"

    def _evicted_pods(self, pods: dict[str, Manifest]) -> dict[str, list[Manifest]]:
        """Return those of the pods that were evicted since the last call, by group."""
        evicted = self.subject.world.server.evicted
        found: dict[str, list[Manifest]] = {}
        for uid, pod in pods.items():
            if uid in evicted:
                found.setdefault(pod["metadata"]["labels"][names.GROUP_LABEL], []).append(pod)
        evicted.clear()
        return found

    def _no_claim_is_lost(self, before: dict[str, str], cause: str) -> None:
        lost = [name for name, uid in before.items() if self.claims().get(name) != uid]
        expected = (self.subject.documented.asked_for, self.marked.may_be_deleted)
        unrequested = [name for name in lost if not any(is_expected(name) for is_expected in expected)]
        assert not unrequested, f"{cause} deletes {unrequested}"

    def _status_is_not_older(self, before: Manifest) -> None:
        after = self._status()
        if before["uid"] == after["uid"]:
            assert after.get("observedGeneration", 0) >= before.get("observedGeneration", 0), "the status is older"

    def _plan_is_empty(self) -> None:
        """A converged cluster has nothing to do, and no problem, for playbook and operator in turns.

        Unless the user has to decide about a budget: that is reported.
        """
        blocked = self._blocked_groups()
        turns: tuple[By, ...] = ("playbook", "operator", "playbook", "operator")
        for by in turns if self.by == "operator" else turns[:1]:
            for check_mode in (True, False):
                report = self.subject.run(by, check_mode=check_mode)
                assert report is not None
                assert not report.changed, f"{by}: {_describe(report)}"
                assert not report.problems, f"{by}: {_describe(report)}"
                for key in blocked:
                    found = [text for text in report.warnings if REFUSAL in text and f" of group {key} stay" in text]
                    assert found, f"{by}: nothing is reported about {key}: {report.warnings}"
                assert report.is_final != bool(blocked), f"{by}: {report.status}"

    def _specified_pods_are_addressable(self) -> None:
        """Assert the same for the pods of all groups that the cluster has now."""
        groups = self.subject.cluster.groups if self.subject.cluster else ()
        labels = {workload_name(key) for key in groups}
        pods = self.subject.world.store.of_kind("Pod")
        self._are_addressable(pod for pod in pods if pod["metadata"]["labels"].get(names.GROUP_LABEL) in labels)

    def all_pods_are_addressable(self) -> None:
        """Assert that each pod has the name in DNS that it had when it was created."""
        self._are_addressable(self.subject.world.store.of_kind("Pod"))

    def _are_addressable(self, pods: Iterable[Manifest]) -> None:
        store = self.subject.world.store
        for pod in pods:
            subdomain = pod["spec"].get("subdomain")
            is_deleted = is_terminating(pod) or pod["metadata"]["uid"] in self.subject.deleted_pods
            if subdomain and not is_deleted:
                service = store.get("Service", NAMESPACE, subdomain)
                found = service is not None and matches({"matchLabels": service["spec"]["selector"]}, pod)
                # A Service with an address of its own does not resolve the names of its pods.
                found = found and service["spec"].get("clusterIP") == "None"
                assert found, f"{pod['metadata']['name']} has no address in {subdomain}"

    def _groups_have_their_sizes(self) -> None:
        cluster = self.subject.cluster
        assert cluster is not None
        sizes = {key: _size(self.subject, key) for key in cluster.groups}
        for key, group in cluster.groups.items():
            limits = group.autoscaler or self._foreign_limits(key, group.kind)
            if cluster.is_stopped(key):
                assert sizes[key] == 0, f"{key} is stopped, and has {sizes[key]} pods"
                continue
            if limits is not None:
                assert limits[0] <= sizes[key] <= limits[1] or sizes[key] == group.replicas == 0, f"{key}: {sizes[key]}"
            elif group.replicas is not None:
                is_kept = sizes[key] > group.replicas and self._was_autoscaled(key, group.kind)
                assert sizes[key] == group.replicas or is_kept, f"{key}: {sizes[key]}, not {group.replicas}"
            elif self.sizes.get(key):
                assert sizes[key] == self.sizes[key], f"{key}: {sizes[key]}, before {self.sizes[key]}"
            self.sizes[key] = sizes[key]

    def _was_autoscaled(self, key: str, kind: str) -> bool:
        """True if an autoscaler, which is deleted, was the last one to set the number of pods."""
        live = self.subject.world.store.get(kind, NAMESPACE, workload_name(key))
        if live is None or live["metadata"]["name"] not in self.subject.world.store.autoscaled:
            return False
        entries = live["metadata"]["managedFields"]
        return any("f:replicas" in each["fieldsV1"].get("f:spec", {}) for each in entries if each["manager"] == HPA)

    def _foreign_limits(self, key: str, kind: str) -> tuple[int, int] | None:
        live = self.subject.world.store.get("HorizontalPodAutoscaler", NAMESPACE, f"foreign-{key}")
        if live is None or live["spec"]["scaleTargetRef"]["kind"] != kind:
            return None
        return live["spec"]["minReplicas"], live["spec"]["maxReplicas"]


def _size(subject: Subject, key: str) -> int:
    """Return the number of replicas of the group's only workload."""
    found = [subject.world.store.get(kind, NAMESPACE, workload_name(key)) for kind in WORKLOADS]
    [live] = [each for each in found if each is not None]
    return int(live["spec"]["replicas"])


def _describe(report: Report[Plan] | None) -> str:
    return "no report" if report is None else "; ".join(_texts(report))


def _texts(report: Report[Plan]) -> Iterator[str]:
    yield from lines(report.plan)
    yield from report.warnings


def planned_deletions(report: Report[Plan], claims: Iterable[str]) -> set[str]:
    """Return the PVCs that the plan names as deleted."""
    steps = (*report.plan.steps, *report.plan.later)
    named = {step.key.name for step in steps if step.key.kind == CLAIM and step.operation.verb == "delete"}
    planned = (text.removeprefix("later: ") for text in lines(report.plan))
    deletions = [text.split() for text in planned if text.startswith("delete ")]
    return named | {name for name in claims for words in deletions if name in words}
