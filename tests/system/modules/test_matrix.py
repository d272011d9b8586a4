# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Each module creates, changes and removes its resource: in check mode, then not, then both again.

The cases are in matrix/, with one file each, which may have operations of several modules that need one another.
The requests to Druid are counted, independently of the result.
An operation without ``writes`` changes nothing. ``druid``: releases, of which ``any`` is the one that the tests run on.
``ids``: the ids in the result, or the datasources, by its key; empty if the result has no list. ``cluster_wide``: it
changes a setting that a Druid has once, so that such cases run one after the other. ``prepared``: a request that makes
no difference to a Druid which has had it before: method, path and body.
"""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_modules import Modules, Step, modules_on
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_27, druid_33, druid_basic, share_druid
from testbed.other_release import released

__all__ = ["druid", "druid_27", "druid_33", "druid_basic", "share_druid"]

CASES = Path(__file__).with_name("matrix")
# What an entry is known by.
IDS = ("id", "datasource", "server")
FACTS = ("module", "druid", "cluster_wide", "prepared")
# The fixture, and the release whose differences are put over it where it cannot be had.
DRUIDS = {
    "any": ("druid", None),
    "27.0.0": ("druid_27", None),
    "37.0.0": ("druid_33", "37.0.0"),
    # the release that can be had with basic security
    "basic": ("druid_basic", None),
}


# One of each sort: what has an id and a state, and a configuration that a Druid has once.
QUICK = ("supervisor", "dynamic_config")
EXHAUSTIVE = campaign("one module of each kind, on one release; the others by their examples and in-process")


def _read(target: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((CASES / f"{target}.yml").read_text(encoding="utf-8"))
    return document


def _cases() -> Iterator[Any]:
    for target in sorted(file.stem for file in CASES.iterdir()):
        matrix = _read(target)
        marks = [pytest.mark.xdist_group("cluster-wide")] if matrix.get("cluster_wide") else []
        for number, release in enumerate(matrix["druid"]):
            is_quick = target in QUICK and number == 0
            yield pytest.param((target, release), marks=marks if is_quick else [*marks, EXHAUSTIVE])


def _kinds() -> frozenset[str]:
    """Return the keys of results, of all modules, that list resources."""
    operations = [each for file in CASES.iterdir() for each in _read(file.stem).values() if isinstance(each, dict)]
    return frozenset(kind for operation in operations for kind in operation.get("ids", {}))


KINDS = _kinds()


@pytest.fixture(params=_cases(), ids="-".join)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Modules, dict[str, Any]]]:
    """A target, and the modules on a Druid of a release that has it."""
    target, release = request.param
    matrix = _read(target)
    fixture, over = DRUIDS[release]
    shared: Druid = request.getfixturevalue(fixture)
    if "prepared" in matrix:
        shared.request(*matrix["prepared"])
    kafka = shared.kafka.address if shared.kafka else ""
    # accepts connections, and never responds
    with (
        released(over, shared.upstream) as upstream,
        modules_on(shared, tmp_path, upstream=upstream) as modules,
        socket.create_server(("127.0.0.1", 0)) as silence,
    ):
        host, port = silence.getsockname()
        values = {"name": f"m{secrets.token_hex(4)}", "kafka": kafka, "silence": f"{host}:{port}"}
        worker, historical = shared.address("indexer"), shared.address("historical")
        values |= {"worker": worker, "quoted_worker": quote(worker, safe=""), "historical": historical}
        yield modules, _filled(matrix, values)


# so that it is seen that a Druid is needed (conftest.py)
@pytest.mark.usefixtures("share_druid")
def test_matrix(case: tuple[Modules, dict[str, Any]]) -> None:
    modules, matrix = case
    operations = {name: specified for name, specified in matrix.items() if name not in FACTS}
    # one run of ansible-playbook, because its start takes longer than a task
    tasks = [task for specified in operations.values() for task in four_times(matrix["module"], specified)]
    steps = modules.run(*tasks)
    for number, (operation, specified) in enumerate(operations.items()):
        verify(operation, specified, steps[4 * number : 4 * number + 4])


def four_times(module: str, specified: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tasks of an operation: in check mode, then not, then both again."""
    task = {f"druidops.druid.{specified.get('module', module)}": specified["arguments"], "diff": True}
    return [{**task, "check_mode": True}, task] * 2


def verify(operation: str, specified: dict[str, Any], steps: list[Step]) -> None:
    """Check what these tasks have changed, sent and returned."""
    predicted, done, *again = steps
    writes = specified.get("writes", [])
    assert (predicted.changed, predicted.writes) == (bool(writes), []), operation
    assert (done.changed, done.writes) == (bool(writes), writes), operation
    for step in again:
        assert (step.changed, step.writes) == (False, []), operation
    for step in (predicted, done):
        assert "diff" not in specified or specified["diff"] == step.differing, operation
    for step in steps:
        assert "ids" not in specified or specified["ids"] == ids(step.result), operation
        assert specified.get("ids") == {} or short_form(specified["arguments"], step.result), operation


def listed(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the lists of resources, by key; the roles of a user are a list of names, which may be empty."""
    lists = {kind: fields[kind] for kind in KINDS if isinstance(fields.get(kind), list)}
    resources = {kind: each for kind, each in lists.items() if each and isinstance(each[0], dict)}
    return resources or {kind: each for kind, each in lists.items() if not each}


def ids(result: dict[str, Any]) -> dict[str, list[str]]:
    """Return the ids of the resources in a result, by key."""
    return {
        kind: [next(each[name] for name in IDS if each.get(name)) for each in found]
        for kind, found in listed(result).items()
    }


def short_form(arguments: dict[str, Any], result: dict[str, Any]) -> bool:
    """Return whether the result of a call for one thing has the fields of its entry at the top level, and no other."""
    [entries] = listed(result).values()
    is_one = len(entries) == 1 and "changed" in entries[0] and not listed(arguments)
    return any(name in result for name in IDS) == is_one and (not is_one or entries[0].items() <= result.items())


def _filled(document: Any, values: dict[str, str]) -> Any:
    if isinstance(document, dict):
        return {name: _filled(value, values) for name, value in document.items()}
    if isinstance(document, list):
        return [_filled(element, values) for element in document]
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], document) if isinstance(document, str) else document
