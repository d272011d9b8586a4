# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each kind of object in Druid is: its identities, and what a resource specifies."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.decide import Identity
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kinds import KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import DruidObject
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import Surroundings
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import DRUID_OBJECTS

READS = {"resource": {"type": "STATE", "name": "STATE"}, "action": "READ"}
SECRET = {"name": "s", "key": "k"}
KEY = SecretKey("ns", "s", "spec.passwordSecret")


def resource(spec: dict[str, Any]) -> DruidObject:
    return DruidObject.from_resource({"metadata": {"name": "i", "namespace": "ns"}, "spec": spec})


def test_kinds_are_those_of_the_option() -> None:
    assert tuple(KINDS) == DRUID_OBJECTS


@pytest.mark.parametrize(
    ("kind", "spec", "identities"),
    [
        ("DruidLookup", {}, [("__default", "i")]),
        ("DruidLookup", {"id": "a/b", "tier": "t"}, [("t", "a/b")]),
        ("DruidRole", {"id": "r"}, [("", "r")]),
        ("DruidRole", {"authorizer": "a"}, [("a", "i")]),
        ("DruidUser", {"passwordSecret": SECRET}, [("authenticator", "", "i")]),
        ("DruidUser", {"roles": [], "authorizer": "a"}, [("authorizer", "a", "i")]),
        (
            "DruidUser",
            {"passwordSecret": SECRET, "roles": ["r"], "id": "u"},
            [("authenticator", "", "u"), ("authorizer", "", "u")],
        ),
        # stored under another schema
        ("DruidUser", {"passwordSecret": "text", "id": 5}, []),
    ],
)
def test_identities(kind: str, spec: dict[str, Any], identities: list[Identity]) -> None:
    assert list(KINDS[kind].identities(resource(spec))) == identities


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("DruidLookup", {}, "spec.lookupExtractorFactory"),
        ("DruidLookup", {"lookupExtractorFactory": {"type": "mpa"}}, "spec.lookupExtractorFactory.type"),
        ("DruidRole", {"permissions": []}, "permissions"),
        ("DruidRole", {"permissions": [READS, {**READS, "action": "ADMIN"}]}, "permissions[1].action"),
        ("DruidUser", {}, "passwordSecret"),
        ("DruidUser", {"passwordSecret": SECRET, "id": "a:b"}, "id"),
        ("DruidUser", {"passwordSecret": {**SECRET, "key": "empty"}}, "passwordSecret (Secret s, key empty)"),
    ],
)
def test_an_invalid_field_is_named(kind: str, spec: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        KINDS[kind].desired(resource(spec), found(k="hunter2", empty=""))
    assert error.value.name == field


def found(**data: str) -> Surroundings[DruidObject]:
    encoded = {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}
    return Surroundings(secrets={KEY: {"metadata": {"name": "s"}, "data": encoded}})


def test_password_is_that_of_the_secret() -> None:
    item = resource({"passwordSecret": SECRET})
    assert KINDS["DruidUser"].secrets(item) == (KEY,)
    desired = KINDS["DruidUser"].desired(item, found(k="hunter2"))
    assert desired == {"password": "hunter2", "keeps_password": False, "roles": None}


@pytest.mark.parametrize(("loaded", "observed", "is_asked"), [("v1", 2, False), ("v0", 2, True), ("v1", 1, True)])
def test_servers_are_asked_for_a_new_version_and_after_a_change(loaded: str, observed: int, is_asked: bool) -> None:
    """Another tier may have a lookup with the same version."""
    status = {"loadedVersion": loaded, "observedGeneration": observed}
    item = DruidObject.from_resource(
        {"metadata": {"name": "i", "namespace": "ns", "generation": 2}, "spec": {}, "status": status}
    )
    client: Any = SimpleNamespace(get=lambda *_arguments, **_options: {})
    lookup: Any = SimpleNamespace(version="v1")
    change: Any = SimpleNamespace(changed=False, desired=SimpleNamespace(factory={"type": "map"}))
    fields, pending = KINDS["DruidLookup"].state(client, item, lookup, change)
    assert ("loadedVersion" in fields, bool(pending)) == (not is_asked, is_asked)
