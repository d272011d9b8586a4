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


_KUBERNETES = "tests/system/cluster"

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
        "1,000 new examples for each property",
        "unit",
        "tests/unit",
        "--hypothesis-profile=campaign --hypothesis-seed={seed}",
    ),
    Part("kubernetes-oldest", "the oldest Kubernetes", "integration", _KUBERNETES, "", ("KUBERNETES=oldest",)),
    Part("kubernetes-newest", "the newest Kubernetes", "integration", _KUBERNETES, "", ("KUBERNETES=newest",)),
    Part("ansible-core-oldest", "sanity and unit tests with the oldest ansible-core", "ansible-oldest", arguments=None),
    Part("operator", "the operator's tests with the real ansible-operator", "test-operator", needs=OPERATOR),
    Part(
        "operator-ordinary-runs",
        "the same without the resident process",
        "test-operator",
        variables=("DRUIDOPS_TEST_ORDINARY_RUNS=1",),
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
    Part(
        "mutations",
        "the tests detect each mutation of the stand-in for ansible-operator",
        "integration",
        "tests/system/operator/check_operator_mutations.py",
    ),
    Part("scale", "a reconcile costs the same among 100 clusters", "bench", arguments=None, variables=("PART=scale",)),
)
