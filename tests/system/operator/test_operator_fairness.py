# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs of one namespace never occupy all workers: a new resource of another one does not wait for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from ansible_collections.druidops.druid.tests.system.collector.conftest import resource as collector
from ansible_collections.druidops.druid.tests.system.collector.permissions import permit
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import KIND, Ingesting, ingesting
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.operator_account import account
from testbed.clients import helm
from testbed.control_plane import ControlPlane
from testbed.druid.druid import Druid
from testbed.operator_plugin import StartOperator
from testbed.proxy import Loss
from testbed.pytest_plugin import new_namespace

INGESTIONS, DELETIONS, COLLECTORS = 12, 8, 8
MANY_DELETIONS = 80


class Two(NamedTuple):
    """The namespace that keeps the operator busy, and another one."""

    busy: NamespaceClient
    other: NamespaceClient

    @property
    def names(self) -> list[str]:
        return [each.namespace for each in self]


@pytest.fixture
def two(control_plane: ControlPlane) -> Iterator[Two]:
    with ExitStack() as stack:
        found = (NamespaceClient(control_plane, stack.enter_context(new_namespace(control_plane))) for _each in "12")
        yield Two(*found)


def reported(live: NamespaceClient, kind: str) -> int:
    """How many resources have conditions."""
    return sum(bool(each.get("status", {}).get("conditions")) for each in live.list(kind))


def test_ingestions_whose_post_is_never_answered(
    operator: StartOperator, two: Two, druid: Druid, tmp_path: Path
) -> None:
    with ingesting(two.busy, druid) as ingestion:
        _let_all_hang(ingestion)
        start(operator, two.busy, tmp_path, namespaces=two.names, flags=["--max-concurrent-reconciles=2"])
        _create_all(two.busy, ingestion)
        eventually(lambda: ingestion.proxy.writes)

        _create_answered(two.other, ingestion, druid)
        eventually(lambda: reported(two.other, KIND))
        # those before it in the queue come back, and one has had its turn
        assert reported(two.busy, KIND) <= 2


@campaign("one namespace whose runs hang")
def test_two_namespaces_with_ingestions_whose_post_is_never_answered(
    operator: StartOperator, two: Two, druid: Druid, control_plane: ControlPlane, tmp_path: Path
) -> None:
    """They have known that for one run, of 30 s."""
    with (
        new_namespace(control_plane) as third,
        ingesting(two.busy, druid) as first,
        ingesting(busy := NamespaceClient(control_plane, third), druid) as second,
    ):
        names = [*two.names, third]
        for ingestion in (first, second):
            _let_all_hang(ingestion)
        start(operator, two.busy, tmp_path, namespaces=names, flags=["--max-concurrent-reconciles=3"])
        for live, ingestion in ((two.busy, first), (busy, second)):
            _create_all(live, ingestion)
        eventually(lambda: reported(two.busy, KIND) and reported(busy, KIND), 90)

        before = reported(two.busy, KIND) + reported(busy, KIND)
        _create_answered(two.other, first, druid)
        eventually(lambda: reported(two.other, KIND))
        # two workers are theirs
        assert reported(two.busy, KIND) + reported(busy, KIND) <= before + 2


def _let_all_hang(ingestion: Ingesting) -> None:
    for _request in range(2 * INGESTIONS):
        ingestion.proxy.fail_next(Loss.HUNG, method="POST", path="/supervisor")


def _create_all(live: NamespaceClient, ingestion: Ingesting) -> None:
    for number in range(INGESTIONS):
        each = replace(ingestion, name=f"{ingestion.name}-{number}")
        live.create(each.resource("kafka", kafka_spec(each), suspend=True))


def _create_answered(live: NamespaceClient, ingestion: Ingesting, druid: Druid) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    manifest = ingestion.resource("kafka", kafka_spec(ingestion), suspend=True)
    manifest["spec"]["endpoint"]["url"] = druid.url
    live.create(manifest)


@pytest.mark.parametrize(
    "number",
    [pytest.param(each, marks=campaign("the same limit for ingestions")) for each in (DELETIONS, MANY_DELETIONS)],
)
def test_deletions(operator: StartOperator, two: Two, tmp_path: Path, number: int) -> None:
    started = start(operator, two.busy, tmp_path, namespaces=two.names, flags=["--max-concurrent-reconciles=2"])
    names = [f"c{each}" for each in range(number)]
    for first in range(0, number, DELETIONS):
        some = names[first : first + DELETIONS]
        for name in some:
            two.busy.create(small_cluster.resource(name, small_cluster.spec(replicas=1)))
        started.wait_until_settled(*some)

    mark = two.busy.mark()
    for name in names:
        two.busy.delete("Druid", name)
    two.other.create(small_cluster.resource("new", small_cluster.spec(replicas=1)))
    started.seen_from(two.other).wait_until_ready("new")
    eventually(lambda: two.busy.names("Druid") == set(), 10 * number)

    events = [each for each in started.events(mark) if each.code < 300 and not each.dry_run]
    others = [each for each in two.other.requests(mark, started.account.username) if each.code < 300]
    created = min(each.received for each in others if each.verb == "create" and "new" in (each.name or ""))
    begun = {each.name: each.received for each in reversed(events) if (each.verb, each.resource) == ("patch", "druids")}
    assert sum(begun[name] < created for name in names) < number - 1


@campaign("the same limit for ingestions and deletions")
def test_collectors_that_cannot_be_scheduled(
    operator: StartOperator, two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "helm-programs"
    programs.mkdir()
    (programs / "helm").symlink_to(helm())
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    login = account(two.busy.plane, two.busy.namespace, tmp_path)
    for live in two:
        permit(live, login)
    start(operator, two.busy, tmp_path, login=login, namespaces=two.names, flags=["--max-concurrent-reconciles=2"])
    for number in range(COLLECTORS):
        name = f"t{number}"
        two.busy.create(collector(name, release=name, values={"nodeSelector": {"of": "none"}}))
    eventually(lambda: two.busy.names("Deployment"))
    two.other.create(collector("new"))
    eventually(lambda: two.other.names("Deployment"))
    assert len(two.busy.names("Deployment")) < COLLECTORS
