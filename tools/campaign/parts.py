# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of a campaign: one make target each. All of them run even if one fails."""

from __future__ import annotations

from typing import NamedTuple

OPERATOR = "ansible-operator"
GO_OPERATOR = "manager"


class Part(NamedTuple):
    """A make target with its variables.

    ``arguments``: for pytest, None if the target does not run pytest. ``needs``: a program that has to be on PATH.
    """

    name: str
    shows: str
    target: str
    tests: str = ""
    arguments: str | None = ""
    variables: tuple[str, ...] = ()
    needs: str = ""


def _files(directory: str, names: str) -> str:
    return " ".join(f"{directory}/test_{name}.py" for name in names.split())


# What the API server, the controllers and the scheduler do. The other tests of clusters are about our decisions, about
# Druid, or about Ansible, which are the same with every version.
_KUBERNETES = _files(
    "tests/system/cluster",
    "adoption admission attributes_class autoscaler converged crds deletion disruption_budgets drift events expansion "
    "faults immutable invalid_in_etcd life_cycle merge_keys missing_pods namespace retention rollout simulator "
    "update_strategy",
)
# Without those that start no operator.
_OPERATOR = _files(
    "tests/system/operator",
    "image injection metrics operator operator_failing_clusters operator_fairness operator_fewer_historicals "
    "operator_hanging_run operator_kills operator_leader operator_memory operator_namespaces operator_outage "
    "operator_partition operator_restart_on_change operator_stand_in stopped_cache",
)
# What ansible-runner does instead of the resident process: each playbook, its variables, failures, and its end.
_WITHOUT_RESIDENT = _files(
    "tests/system/operator", "injection metrics operator operator_failing_clusters operator_hanging_run operator_kills"
)
_PROGRAMS = "tests/system/ingestion/test_ingestion_programs.py"

PARTS = (
    Part(
        "tests",
        "failures and conflicts of every request; scale; outages (the tests in the table below)",
        "integration",
        "tests/system",
        "-m campaign",
    ),
    Part(
        "properties",
        "500 new examples for each property, and 100 histories for each of the simulated control plane",
        "unit",
        "tests/unit",
        "-m hypothesis --hypothesis-profile=campaign --hypothesis-seed={seed}",
    ),
    Part("kubernetes-oldest", "the oldest Kubernetes", "integration", _KUBERNETES, "", ("KUBERNETES=oldest",)),
    Part("kubernetes-newest", "the newest Kubernetes", "integration", _KUBERNETES, "", ("KUBERNETES=newest",)),
    Part("ansible-core-oldest", "sanity and unit tests with the oldest ansible-core", "ansible-oldest", arguments=None),
    Part(
        "operator",
        "the operator's tests with the real ansible-operator",
        "test-operator",
        f"{_OPERATOR} {_PROGRAMS}",
        needs=OPERATOR,
    ),
    Part(
        "operator-without-resident",
        "those of clusters and ingestions without the resident process",
        "test-operator",
        f"{_WITHOUT_RESIDENT} {_PROGRAMS}",
        variables=("DRUIDOPS_TEST_WITHOUT_RESIDENT=1",),
        needs=OPERATOR,
    ),
    Part(
        "operator-in-pod",
        "the operator in a pod of a real node, from its image, with a real Druid",
        "node-tests",
        "tests/system/node/test_operator_in_pod.py",
        "-m campaign",
        needs=OPERATOR,
    ),
    Part(
        "go-operator",
        "with the real Go operator: a namespace of `DENY_LIST` that it serves, and all values that our CRDs accept",
        "test-go-operator",
        needs=GO_OPERATOR,
    ),
    Part("scale", "a reconcile costs the same among 100 clusters", "bench", arguments=None, variables=("PART=scale",)),
)
