# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A DruidLookup is kept as specified in a real Druid, and what it has submitted goes with it.

What is the same for all kinds of objects is tested here only: conflicts, outages, deletion, changes of identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.lookup import LOOKUP
from ansible_collections.druidops.druid.tests.system.support.druid_lookups import remove_lookups
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.objects_in_process import Objects, objects
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible
from testbed.druid.druid import Druid
from testbed.operator_plugin import StartOperator
from testbed.recording_proxy import UNAVAILABLE

CONFIG = "/druid/coordinator/v1/lookups/config"
CANARY = "hunter2-the-canary"


@pytest.fixture
def lookups(live: NamespaceClient, druid: Druid) -> Iterator[Objects]:
    with objects(LOOKUP, live, druid) as created:
        remove_lookups(druid, created.name)
        yield created
        remove_lookups(druid, created.name)


def factory(value: str) -> dict[str, Any]:
    return {"type": "map", "map": {"a": value}}


def in_druid(lookups: Objects, name: str = "") -> str | None:
    """Return the value of the lookup in Druid, None if there is none."""
    found = lookups.druid.request("GET", f"{CONFIG}/all").get("__default", {}).get(name or lookups.name)
    return found and str(found["lookupExtractorFactory"]["map"]["a"])


def test_lookup_is_created_updated_and_corrected_with_one_write_each(lookups: Objects) -> None:
    lookups.create(lookupExtractorFactory=factory("one"))
    planned = lookups.one_pass(check_mode=True)
    title = f"lookup {lookups.name} of tier __default"
    assert lookups.done(planned) == [f"create {title}"]
    assert in_druid(lookups) is None

    assert lookups.done(lookups.settled()) == [f"create {title}"]
    assert lookups.druid.query(f"SELECT LOOKUP('a', '{lookups.name}') AS found") == [{"found": "one"}]
    first = lookups.live.get("DruidLookup", lookups.name)["status"]
    assert first["id"] == lookups.name
    assert (first["tier"], first["loadedVersion"]) == ("__default", first["version"])
    assert lookups.condition("Ready") == ("True", "Applied")

    lookups.change(lookupExtractorFactory={"map": {"a": "two"}})
    lookups.settled()
    assert in_druid(lookups) == "two"
    # another client replaces it
    version = lookups.live.get("DruidLookup", lookups.name)["status"]["version"]
    theirs = {"version": f"{version}-x", "lookupExtractorFactory": factory("theirs")}
    lookups.druid.request("POST", f"{CONFIG}/__default/{lookups.name}", theirs)
    assert lookups.done(lookups.one_pass()) == [f"update {title}"]
    assert in_druid(lookups) == "two"
    lookups.druid.request("DELETE", f"{CONFIG}/__default/{lookups.name}")
    assert lookups.done(lookups.one_pass()) == [f"create {title}"]
    lookups.settled()
    assert {each["reason"] for each in lookups.live.list("Event")} == {"ObjectUpdated"}

    lookups.delete()
    assert (lookups.find(), in_druid(lookups)) == (None, None)


def test_retained_or_never_submitted_lookups_stay(lookups: Objects) -> None:
    lookups.create(lookupExtractorFactory=factory("one"), deletionPolicy="Retain")
    lookups.settled()
    outcome = lookups.delete()
    assert outcome.warnings == (f"deletionPolicy Retain: lookup {lookups.name} of tier __default is left in Druid.",)
    assert (lookups.find(), in_druid(lookups)) == (None, "one")
    # of a paused resource that has submitted nothing; it plans to replace the lookup that is there
    lookups.create(lookupExtractorFactory=factory("two"), paused=True)
    lookups.live.merge("DruidLookup", lookups.name, {"metadata": {"finalizers": [LOOKUP.finalizer]}})
    lookups.one_pass()
    assert lookups.condition("Ready") == ("False", "ChangesPending")
    assert lookups.delete().plan.titles == ["remove the finalizer"]
    assert (lookups.find(), in_druid(lookups)) == (None, "one")


def test_two_resources_do_not_fight_and_the_younger_takes_over(lookups: Objects) -> None:
    lookups.create(lookupExtractorFactory=factory("older"))
    lookups.settled()
    lookups.create_later("younger", id=lookups.name, lookupExtractorFactory=factory("younger"))
    outcome = lookups.one_pass("younger")
    assert not outcome.changed
    assert [each.reason for each in outcome.problems] == ["DuplicateObject"]
    assert lookups.name in outcome.problems[0].message
    assert in_druid(lookups) == "older"

    outcome = lookups.delete()
    assert outcome.warnings[0].startswith("DruidLookup younger also describes lookup")
    assert in_druid(lookups) == "older"
    lookups.settled("younger")
    assert in_druid(lookups) == "younger"


def test_a_renamed_lookup_replaces_the_former_one_unless_another_resource_has_it(lookups: Objects) -> None:
    new = f"{lookups.name}-new"
    lookups.create(lookupExtractorFactory=factory("one"))
    lookups.settled()
    lookups.change(id=new)
    outcome = lookups.settled()
    assert lookups.done(outcome) == [
        f"create lookup {new} of tier __default",
        f"remove lookup {lookups.name} of tier __default",
    ]
    assert (in_druid(lookups), in_druid(lookups, new)) == (None, "one")
    lookups.create("other", id=new, lookupExtractorFactory=factory("one"))
    lookups.change(id=lookups.name)
    assert lookups.done(lookups.one_pass()) == [f"create lookup {lookups.name} of tier __default"]
    assert in_druid(lookups, new) == "one"


@pytest.mark.parametrize(("method", "path"), [("GET", "/lookups/config"), ("GET", "/nodeStatus"), ("POST", "")])
def test_nothing_is_lost_while_druid_does_not_respond(lookups: Objects, method: str, path: str) -> None:
    lookups.create(lookupExtractorFactory=factory("one"))
    lookups.proxy.fail_next(UNAVAILABLE, method=method, path=path)
    assert lookups.done(lookups.one_pass()) == []
    assert lookups.condition("Ready") == ("False", "DruidUnreachable")
    assert lookups.condition("Degraded") == ("True", "DruidUnreachable")
    lookups.settled()
    assert in_druid(lookups) == "one"
    assert lookups.condition("Degraded") == ("False", "AsExpected")


def test_deletion_waits_for_druid_unless_the_namespace_goes(lookups: Objects) -> None:
    lookups.create(lookupExtractorFactory=factory("one"))
    lookups.settled()
    lookups.proxy.fail_next(UNAVAILABLE)
    outcome = lookups.delete()
    assert [each.reason for each in outcome.problems] == ["DruidUnreachable"]
    assert "set deletionPolicy Retain" in lookups.message()
    assert lookups.condition("Ready")[0] == "False"
    lookups.one_pass()
    assert (lookups.find(), in_druid(lookups)) == (None, None)


def test_resource_of_another_druid_leaves_the_former_one_alone(lookups: Objects) -> None:
    lookups.create(lookupExtractorFactory=factory("one"))
    lookups.settled()
    # the same server by another name is another address
    lookups.change(endpoint={"url": lookups.proxy.url.replace("127.0.0.1", "localhost")})
    outcome = lookups.delete()
    assert "In another Druid" in outcome.warnings[0]
    assert (lookups.find(), in_druid(lookups)) == (None, "one")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"lookupExtractorFactory": {"map": {}}}, "spec.lookupExtractorFactory.type: set the type of the lookup"),
        (
            {"lookupExtractorFactory": {"type": "mpa"}},
            "spec.lookupExtractorFactory.type ('mpa'): is not a type of lookup in Druid. Did you mean 'map'?",
        ),
        (
            {"lookupExtractorFactory": {"type": "map"}, "druidCluster": "c"},
            "spec.druidCluster: endpoint.url is also set",
        ),
        (
            {"lookupExtractorFactory": {"type": "map"}, "druidCluster": "c", "endpoint": {"url": None}},
            "spec.druidCluster: there is no Druid c in namespace",
        ),
    ],
    ids=["no type", "a typing error", "two Druids", "no Druid"],
)
def test_bad_input_is_named_by_its_field(lookups: Objects, spec: dict[str, Any], message: str) -> None:
    lookups.create(**spec)
    outcome = lookups.one_pass()
    assert not outcome.changed
    assert outcome.problems[0].message.startswith(message)
    assert lookups.message().startswith(message)
    assert not lookups.proxy.writes


def test_by_playbook(ansible: Ansible, lookups: Objects) -> None:
    spec = {"endpoint": {"url": lookups.proxy.url}, "lookupExtractorFactory": factory("{{ 1 + 1 }}")}
    metadata = {"name": lookups.name, "namespace": ansible.namespace}
    resource = {"apiVersion": "druid.apache.org/v1alpha1", "kind": "DruidLookup", "metadata": metadata, "spec": spec}
    file = ansible.write("lookup.json", resource).removeprefix("@")
    task = {"druidops.druid.druid_object": {"kind": "DruidLookup", "resource": file, "wait": True}}

    planned = ansible.tasks(task, options=("--check", "--diff"))
    assert planned.changed
    assert f"after: lookup {lookups.name} of tier __default" in planned.output
    assert lookups.find() is None

    created = ansible.tasks(task, options=("-v",))
    assert created.changed
    assert created.results[-1]["object"]["id"] == lookups.name
    assert in_druid(lookups) == "{{ 1 + 1 }}"
    assert not ansible.tasks(task).changed
    # without a resource
    named = {"kind": "DruidLookup", "name": lookups.name, "namespace": ansible.namespace}
    assert ansible.tasks({"druidops.druid.druid_object": {**named, "state": "absent", "wait": True}}).changed
    assert (lookups.find(), in_druid(lookups)) == (None, None)
    by_variables = {"druidops.druid.druid_object": {**named, "spec": {**spec, "lookupExtractorFactory": factory("b")}}}
    assert ansible.tasks(by_variables).changed
    assert not ansible.tasks(by_variables).changed
    assert in_druid(lookups) == "b"
    by_variables["druidops.druid.druid_object"]["state"] = "absent"
    assert ansible.tasks(by_variables).changed
    assert in_druid(lookups) is None


def test_operator_keeps_a_lookup(lookups: Objects, operator: StartOperator, tmp_path: Path) -> None:
    """With the permissions that it is installed with, and without Ansible."""
    log = tmp_path / "log"
    start(operator, lookups.live, tmp_path, DRUIDOPS_LOG=str(log), RECONCILE_WAIT="2s")
    lookups.create(lookupExtractorFactory=factory("one"))
    eventually(lambda: in_druid(lookups) == "one")
    eventually(lookups.is_ready)
    lookups.druid.request("DELETE", f"{CONFIG}/__default/{lookups.name}")
    eventually(lambda: in_druid(lookups) == "one")
    lookups.live.delete("DruidLookup", lookups.name)
    eventually(lambda: lookups.find() is None)
    assert in_druid(lookups) is None
    assert "ansible-runner" not in log.read_text(encoding="utf-8")


def test_text_stays_text_and_a_password_is_masked(lookups: Objects) -> None:
    text = "{{ lookup('ansible.builtin.pipe', 'false') }}"
    connector = {"connectURI": "jdbc:postgresql://db/d", "user": "u", "password": CANARY}
    namespace = {"type": "jdbc", "connectorConfig": connector, "table": text, "keyColumn": "k", "valueColumn": "v"}
    specified = {"type": "of-another-extension", "extractionNamespace": namespace}
    lookups.create(lookupExtractorFactory=specified, customType=True)
    outcome = lookups.one_pass()
    assert lookups.druid.request("GET", f"{CONFIG}/__default/{lookups.name}")["lookupExtractorFactory"] == specified
    assert "has secrets in plain text (extractionNamespace.connectorConfig.password)" in outcome.warnings[0]
    # no server can load it
    assert lookups.condition("Ready") == ("False", "Loading")
    assert "Not loaded by: 127.0.0.1" in lookups.message()
    shown = f"{LOOKUP.diff(outcome.plan)} {LOOKUP.lines(outcome.plan)} {outcome.warnings} {lookups.texts()}"
    assert CANARY not in shown
