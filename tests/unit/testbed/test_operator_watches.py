# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""watches.yaml is read as ansible-operator does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.testbed.operator.expand import expand
from ansible_collections.druidops.druid.tests.testbed.operator.kinds import Kind
from ansible_collections.druidops.druid.tests.testbed.operator.watches import Watch, WatchesError, load

MINIMAL = "- {version: v1, kind: Secret, playbook: %s, manageStatus: false%s}"


@pytest.fixture
def playbook(tmp_path: Path) -> Path:
    """A file."""
    file = tmp_path / "play.yml"
    file.touch()
    return file


def one(playbook: Path, more: str = "", **environment: str) -> Watch:
    """The only watch of a file."""
    (watch,) = load(MINIMAL % (playbook, more and f", {more}"), environment, workers=2, verbosity=2)
    return watch


def test_defaults(playbook: Path) -> None:
    """Of what need not be said."""
    watch = one(playbook)
    assert watch.kind == Kind("", "v1", "Secret")
    assert watch.max_runner_artifacts == 20
    assert watch.reconcile_period == 0
    assert watch.finalizer is None
    assert watch.watch_dependent_resources
    assert not watch.watch_cluster_scoped_resources
    assert watch.snake_case_parameters
    assert not watch.watch_annotations_changes
    assert not watch.mark_unsafe
    assert (watch.max_concurrent_reconciles, watch.ansible_verbosity) == (2, 2)


def test_unknown_keys_are_ignored_and_the_case_of_keys_too(playbook: Path) -> None:
    """Silently."""
    assert one(playbook, "markunsafe: true, nonsense: 1, RECONCILEPERIOD: 1m30s").reconcile_period == 90


@pytest.mark.parametrize(
    "more",
    [
        "reconcilePeriod: 5",
        "reconcilePeriod: soon",
        "finalizer: {vars: {a: b}}",
        "finalizer: {name: a}",
        "finalizer: {name: a, playbook: none.yml}",
        "manageStatus: true",
        "playbook: none.yml",
        "playbook: '', role: a",
        "kind: ''",
    ],
)
def test_refused(playbook: Path, more: str) -> None:
    """With an error that says why."""
    with pytest.raises(ValueError, match=r"duration|finalizer|status|playbook|GVK"):
        one(playbook, more)


def test_a_kind_twice(playbook: Path) -> None:
    """Is refused."""
    with pytest.raises(WatchesError, match="duplicate GVK"):
        load("\n".join([MINIMAL % (playbook, "")] * 2), {}, workers=1, verbosity=0)


@pytest.mark.parametrize(
    ("environment", "workers", "verbosity"),
    [
        ({"MAX_CONCURRENT_RECONCILES_SECRET_": "7", "ANSIBLE_VERBOSITY_SECRET_": "7"}, 7, 7),
        ({"WORKER_SECRET_": "5"}, 5, 2),
        ({"WORKER_SECRET_": "5", "MAX_CONCURRENT_RECONCILES_SECRET_": "6"}, 6, 2),
        ({"MAX_CONCURRENT_RECONCILES_SECRET_": "0", "ANSIBLE_VERBOSITY_SECRET_": "8"}, 2, 2),
        ({"MAX_CONCURRENT_RECONCILES_SECRET_": "many", "ANSIBLE_VERBOSITY_SECRET_": "-1"}, 2, 2),
    ],
)
def test_environment(playbook: Path, environment: dict[str, str], workers: int, verbosity: int) -> None:
    """Numbers for a kind."""
    watch = one(playbook, **environment)
    assert (watch.max_concurrent_reconciles, watch.ansible_verbosity) == (workers, verbosity)


def test_names_of_variables_of_a_group(playbook: Path) -> None:
    """Dots become underscores, dashes stay."""
    environment = {"MAX_CONCURRENT_RECONCILES_DRUID_A-B_EXAMPLE_COM": "3"}
    text = f"[{{group: a-b.example.com, version: v1, kind: Druid, playbook: {playbook}, manageStatus: false}}]"
    (watch,) = load(text, environment, workers=1, verbosity=0)
    assert watch.max_concurrent_reconciles == 3


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("${A} $A", "1 1"),
        ("$AB ${B}", "${AB} ${B}"),
        ("a$b", "a${b}"),
        ("$1 $$ $", "${1} ${$} $"),
    ],
)
def test_references(text: str, expanded: str) -> None:
    """What is not set stays, in braces."""
    assert expand(text, {"A": "1"}) == expanded


def test_blacklist_and_finalizer(playbook: Path) -> None:
    """Kinds, and what is run at the end."""
    more: Any = "blacklist: [{group: apps, version: v1, kind: Deployment}], finalizer: {name: a, vars: {last: true}}"
    watch = one(playbook, more)
    assert watch.blacklist == {Kind("apps", "v1", "Deployment")}
    assert watch.finalizer is not None
    assert (watch.finalizer.name, watch.finalizer.playbook, watch.finalizer.vars) == ("a", None, {"last": True})
