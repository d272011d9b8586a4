# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random histories: a cluster, and what happens to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from ansible_collections.druidops.druid.tests.simulator.kubelet import Failure
from ansible_collections.druidops.druid.tests.simulator.specification import NEW_IMAGE, OLD_IMAGE, Cluster, Group
from ansible_collections.druidops.druid.tests.simulator.store import PAST
from ansible_collections.druidops.druid.tests.unit.simulator import actions, environment
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Action, Event
from ansible_collections.druidops.druid.tests.unit.simulator.subject import By, Fault
from hypothesis import strategies as st

GROUPS = ("brokers", "historicals", "historicals-hot")
_POLICY = st.sampled_from(("Retain", "Delete"))
_LIMITS = st.one_of(st.none(), st.sampled_from(((1, 3), (2, 4), (3, 5))))
# The third group only appears by renaming.
_AT_FIRST = GROUPS[:2]
# A reconcile that writes everything sends about 60 requests.
_REQUEST = st.integers(0, 60)
# Requests of a restart: none, an early and a late one, and one that is ignored.
_TIMES = st.sampled_from(("", "", "2026-01-01T00:00:00Z", "2026-03-01T00:00:00+02:00", "soon"))

GROUP_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "replicas": st.one_of(st.none(), st.integers(0, 3)),
    "kind": st.sampled_from(("StatefulSet", "Deployment")),
    "stopped": st.booleans(),
    "when_scaled": _POLICY,
    "when_deleted": _POLICY,
    "autoscaler": _LIMITS,
    "management": st.sampled_from(("Parallel", "OrderedReady")),
    "partition": st.integers(0, 2),
    "has_standalone_claim": st.booleans(),
    "service": st.sampled_from(("%s", "%s-b")),
    "has_more_claims": st.sampled_from((False, False, True)),
    "strategy": st.sampled_from(("RollingUpdate", "RollingUpdate", "OnDelete")),
    "min_ready": st.sampled_from((0, 0, 30)),
    "has_budget": st.booleans(),
    "restarted_at": _TIMES,
}
CLUSTER_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "stopped": st.booleans(),
    "keeps_pvcs": st.booleans(),
    "image": st.sampled_from((OLD_IMAGE, NEW_IMAGE)),
    "rolls": st.booleans(),
    "order": st.sampled_from(((), ("broker", "historical"), ("historical",))),
    "restarted_at": _TIMES,
}

# An autoscaler stops pods at any time, also without a reconcile.
_FIELDS_WITHOUT_AUTOSCALER = {name: values for name, values in GROUP_FIELDS.items() if name != "autoscaler"}
# By how many writes the operator's cache is behind, for some kinds, and for all others.
AGES = st.dictionaries(
    st.sampled_from(("", "Druid", "StatefulSet", "Deployment", "Pod", "PersistentVolumeClaim", "Service")),
    st.sampled_from((1, 3, 10, 30, PAST)),
    max_size=3,
)


def _clusters(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Cluster]:
    groups = st.fixed_dictionaries({key: st.builds(Group, **fields) for key in _AT_FIRST})
    return st.builds(Cluster, groups=groups, **CLUSTER_FIELDS)


CLUSTERS = _clusters(GROUP_FIELDS)
# Most groups run, and have a policy with which their PVCs can be orphaned.
_OF_ORPHANS = {
    **GROUP_FIELDS,
    "replicas": st.integers(0, 3),
    "kind": st.sampled_from(("StatefulSet", "StatefulSet", "StatefulSet", "Deployment")),
    "stopped": st.sampled_from((False, False, False, True)),
    "when_scaled": st.sampled_from(("", "", "Retain", "Delete")),
    "when_deleted": st.sampled_from(("", "", "Retain", "Delete")),
    "autoscaler": st.sampled_from((None, None, None, (1, 3))),
}
CLUSTERS_WITH_ORPHANS = st.builds(
    lambda cluster: replace(cluster, deletes_orphans=True, stopped=False), _clusters(_OF_ORPHANS)
)
CLUSTERS_WITHOUT_AUTOSCALERS = _clusters(_FIELDS_WITHOUT_AUTOSCALER)


def _edits(fields: dict[str, st.SearchStrategy[Any]], groups: tuple[str, ...]) -> list[st.SearchStrategy[Action]]:
    return [st.builds(actions.Edit, st.just(name), values, st.sampled_from(groups)) for name, values in fields.items()]


def _edit(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Action]:
    rename = st.builds(actions.Rename, st.sampled_from(GROUPS), st.sampled_from(("", *GROUPS)))
    return st.one_of([rename, *_edits(fields, GROUPS), *_edits(CLUSTER_FIELDS, ("",))])


_BREAK: st.SearchStrategy[Action] = st.builds(
    environment.Break, st.sampled_from(("", OLD_IMAGE, NEW_IMAGE)), st.sampled_from(get_args(Failure))
)
_BUDGET: st.SearchStrategy[Action] = st.builds(
    environment.ForeignBudget, st.sampled_from(GROUPS), st.sampled_from((None, 1, 3))
)
_REFUSE: st.SearchStrategy[Action] = st.builds(environment.Refuse, st.sampled_from(("", *GROUPS)))
_RESTART: st.SearchStrategy[Action] = st.builds(environment.RolloutRestart, st.sampled_from(GROUPS))
_DELETED_POD: st.SearchStrategy[Action] = st.builds(environment.DeletePod, st.sampled_from(GROUPS), st.integers(0, 2))
_ENVIRONMENT: st.SearchStrategy[Action] = st.one_of(
    st.builds(actions.ForeignAutoscaler, st.sampled_from(GROUPS), _LIMITS),
    st.builds(actions.Load, st.sampled_from(GROUPS), st.integers(1, 5)),
    st.builds(actions.Delete, st.sampled_from(("Background", "Foreground", "Orphan"))),
    st.builds(actions.Remove),
    st.builds(actions.Remove, st.tuples(_REQUEST, st.sampled_from(get_args(Fault)))),
    st.builds(actions.Create),
    st.builds(actions.Prune),
    _BREAK,
    _BUDGET,
    _RESTART,
    _DELETED_POD,
    st.builds(actions.Controllers, st.integers(1, 20)),
)


def _reconciles(by: st.SearchStrategy[By], edit: st.SearchStrategy[Action]) -> st.SearchStrategy[Event]:
    return st.one_of(
        st.builds(actions.Run, by),
        st.builds(actions.Run, by, st.none(), AGES),
        st.builds(actions.Run, by, st.tuples(_REQUEST, st.sampled_from(get_args(Fault)))),
        st.builds(actions.Meanwhile, _REQUEST, st.one_of(edit, _ENVIRONMENT, st.builds(actions.Run, by)), by),
        st.builds(actions.Submit, st.integers(1, 4)),
        st.builds(actions.Outdated, st.integers(1, 4)),
        st.just(actions.Converge()),
    )


def histories(by: By) -> st.SearchStrategy[list[Event]]:
    """Return histories of a cluster. The operator's cluster may also have a playbook."""
    edit = _edit(GROUP_FIELDS)
    runs: st.SearchStrategy[By] = st.sampled_from(("operator", "playbook") if by == "operator" else ("playbook",))
    return st.lists(st.one_of(edit, _reconciles(runs, edit), _ENVIRONMENT), max_size=12)


def histories_without_autoscalers() -> st.SearchStrategy[list[Action]]:
    """Return histories in which PVCs are deleted only because of a reconcile: edits, failures, pruning, and time."""
    edit = _edit(_FIELDS_WITHOUT_AUTOSCALER)
    runs = (
        st.builds(actions.Run),
        st.builds(actions.Run, st.just("operator"), st.tuples(_REQUEST, st.sampled_from(get_args(Fault)))),
    )
    environment = (
        st.builds(actions.Prune),
        _BREAK,
        st.builds(actions.Controllers, st.integers(1, 20)),
    )
    return st.lists(st.one_of(edit, edit, *environment, *runs), max_size=10)


def histories_with_orphans(by: By) -> st.SearchStrategy[list[Event]]:
    """Return histories in which time passes, and users remove the marks of orphaned PVCs."""
    of_cluster = {"deletes_orphans": st.booleans(), "paused": st.booleans(), "stopped": st.booleans()}
    rename = st.builds(actions.Rename, st.sampled_from(GROUPS), st.sampled_from(("", *GROUPS)))
    scale = st.builds(actions.Edit, st.just("replicas"), st.integers(0, 3), st.sampled_from(GROUPS))
    edit = st.one_of(rename, scale, st.one_of(_edits(_OF_ORPHANS, GROUPS)), st.one_of(_edits(of_cluster, ("",))))
    more = st.one_of(
        st.builds(actions.Wait, st.sampled_from((10, 59, 61, 600))), st.builds(actions.Unmark, st.sampled_from(GROUPS))
    )
    runs: st.SearchStrategy[By] = st.just(by)
    reconciles = _reconciles(runs, st.one_of(edit, more))
    return st.lists(st.one_of(edit, more, reconciles, reconciles, _ENVIRONMENT), min_size=4, max_size=16)


_OF_GROWING = {**_OF_ORPHANS, "storage_class": st.just("ssd"), "has_standalone_claim": st.booleans()}
GROWING_CLUSTERS = st.builds(
    lambda cluster, deletes: replace(cluster, expands_pvcs=True, deletes_orphans=deletes, stopped=False),
    _clusters(_OF_GROWING),
    st.booleans(),
)


def histories_with_growth(by: By) -> st.SearchStrategy[list[Event]]:
    """Return histories in which groups get more storage, are scaled, stopped and renamed; no older spec is set."""
    grow = st.builds(actions.Grow, st.sampled_from(GROUPS))
    rename = st.builds(actions.Rename, st.sampled_from(GROUPS), st.sampled_from(("", *GROUPS)))
    edit = st.one_of(grow, grow, rename, st.one_of(_edits(_OF_ORPHANS, GROUPS)))
    runs: st.SearchStrategy[By] = st.just(by)
    reconciles = st.one_of(
        st.builds(actions.Run, runs),
        st.builds(actions.Run, runs, st.none(), AGES),
        st.builds(actions.Run, runs, st.tuples(_REQUEST, st.sampled_from(get_args(Fault)))),
        st.builds(actions.Meanwhile, _REQUEST, edit, runs),
        st.builds(actions.Controllers, st.integers(1, 20)),
        st.just(actions.Converge()),
    )
    return st.lists(st.one_of(edit, reconciles), min_size=3, max_size=14)


_OF_ROLLOUTS = {
    **GROUP_FIELDS,
    "replicas": st.sampled_from((1, 2, 2, 3)),
    "kind": st.sampled_from(("StatefulSet", "StatefulSet", "StatefulSet", "Deployment")),
    "stopped": st.just(False),
    "autoscaler": st.none(),
    "partition": st.sampled_from((0, 0, 0, 1)),
    "strategy": st.sampled_from(("RollingUpdate", "RollingUpdate", "RollingUpdate", "OnDelete")),
}
ROLLING_CLUSTERS = st.builds(
    lambda cluster, third: replace(
        cluster, groups={**cluster.groups, GROUPS[2]: third}, stopped=False, rolls=True, keeps_pvcs=False
    ),
    _clusters(_OF_ROLLOUTS),
    st.builds(Group, **_OF_ROLLOUTS),
)


def histories_of_rollouts(by: By) -> st.SearchStrategy[list[Event]]:
    """Return histories of changes that restart pods, between which the controllers take only a few steps."""
    of_cluster = {"image": CLUSTER_FIELDS["image"], "restarted_at": _TIMES, "order": CLUSTER_FIELDS["order"]}
    edit = st.one_of(*_edits(_OF_ROLLOUTS, GROUPS), *_edits(of_cluster, ("",)), *_edits(of_cluster, ("",)))
    runs: st.SearchStrategy[By] = st.just(by)
    reconciles = _reconciles(runs, edit)
    some = st.builds(actions.Controllers, st.integers(1, 4))
    others = st.one_of(_BREAK, _BREAK, _REFUSE, _BUDGET, _RESTART, _DELETED_POD, st.builds(actions.Wait, st.just(61)))
    return st.lists(st.one_of(edit, reconciles, reconciles, some, some, others), min_size=4, max_size=18)
