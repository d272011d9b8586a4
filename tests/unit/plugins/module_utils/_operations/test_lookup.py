# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lookups of a Druid that never had any, that responds with errors, or whose servers do not load them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.lookup import ensure_lookup, lookup_info
from ansible_collections.druidops.druid.plugins.module_utils._resources import wait
from ansible_collections.druidops.druid.plugins.module_utils._spec.lookup import is_newer
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import Server, say, serving

__all__ = ["fake_time"]

CONFIG = "/druid/coordinator/v1/lookups/config"
ITEM = {"tier": "__default", "custom_type": False, "state": None}
STATUS = "/druid/coordinator/v1/lookups/nodeStatus"
PARAMS: dict[str, Any] = {
    **dict.fromkeys(("id", "spec", "lookups", "author", "comment")),
    "tier": "__default",
    "custom_type": False,
    "state": "present",
    "wait": False,
    "wait_timeout": 5.0,
}


def spec(value: str, **version: str) -> dict[str, Any]:
    return {"lookupExtractorFactory": {"type": "map", "map": {"a": value}}, **version}


class Coordinator:
    """Its lookups, None if it never had any, and the versions that servers have, None if reading them is forbidden.

    ``meanwhile``: what happens after these were read. ``fails``: the responses to writes that take effect. ``other``
    and ``later``: the lookups that another client has sent before ours and after it. ``is_large``: for one response.
    """

    def __init__(self, server: Server, client: DruidClient) -> None:
        self.tiers: dict[str, dict[str, Any]] | None = None
        self.servers: dict[str, dict[str, dict[str, str]]] | None = {"__default": {"one:8082": {}, "two:8083": {}}}
        self.meanwhile: Callable[[], Any] = dict
        self.fails: list[tuple[int, Any]] = []
        self.other: dict[str, Any] | None = None
        self.later: dict[str, Any] | None = None
        self.is_large = False
        self._server, self._client = server, client
        server.routes = {"/druid/coordinator/v1/isLeader": [say(200, {"leader": True})]}
        server.answers = [self._answer]

    def ensure(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module, and verify that it reports a change exactly if it sends one."""
        self._server.asked.clear()
        result = ensure_lookup(self._client, {**PARAMS, **params}, check_mode=check_mode)
        assert bool(self.writes) == (result["changed"] and not check_mode)
        return result

    def info(self, **params: Any) -> list[dict[str, Any]]:
        """Return the result of the module that only reads."""
        return lookup_info(self._client, {"status": True, **params})

    @property
    def writes(self) -> list[str]:
        return [each.replace(CONFIG, "") for each in self._server.paths if not each.startswith("GET")]

    @property
    def stored(self) -> Any:
        """The lookup a of the tier __default."""
        return (self.tiers or {}).get("__default", {}).get("a")

    def _answer(self, handler: Any) -> None:
        asked = self._server.asked[-1]
        status, body = self._response(asked.method, asked.path, json.loads(asked.body or b"null"))
        if asked.method != "GET" and self.fails:
            status, body = self.fails.pop()
        say(status, body)(handler)

    def _response(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        where = path.removeprefix(CONFIG).strip("/").split("/")
        if path.startswith(STATUS):
            if self.servers is None:
                return 403, {"Access-Check-Result": "Unauthorized"}
            found = {
                tier: {name: {"current": loaded, "toLoad": {}, "toDrop": []} for name, loaded in servers.items()}
                for tier, servers in self.servers.items()
            }
            self.meanwhile()
            return 200, found
        if method == "POST" and where == [""]:
            self.tiers = {} if self.tiers is None else self.tiers
            return 202, body
        if self.tiers is None:
            return (404, b"") if method == "GET" else (500, {"error": "Not initialized."})
        if where[0] == "all" and self.is_large:
            return 200, b"[" * 10_000
        if where[0] in ("", "all"):
            return 200, self.tiers if where[0] else [*self.tiers]
        return self._of_one(method, where[1], self.tiers.setdefault(where[0], {}), body)

    def _of_one(self, method: str, name: str, tier: dict[str, Any], body: Any) -> tuple[int, Any]:
        if method == "POST":
            tier.update({name: self.other} if self.other else {})
            if name in tier and not is_newer(body["version"], tier[name]["version"]):
                java = str(tier[name]).replace("': '", "=").replace("': {'", "={")
                return 500, {"error": f"given update for lookup [t]:[a] can't replace existing spec [Lookup{java}]."}
            tier[name] = self.later or body
            return 202, b""
        if name not in tier:
            return 404, {"error": f"lookup [{name}] not found"}
        return (202, tier.pop(name) and b"") if method == "DELETE" else (200, tier[name])


@pytest.fixture
def druid(fake_time: FakeTime) -> Iterator[Coordinator]:
    with serving() as server:
        yield Coordinator(server, fake_time.client(server.url, retry_timeout=0.0, quotes_errors=True))


ONE = {"id": "a", "spec": spec("b")}


@pytest.mark.parametrize("arguments", [ONE, {"lookups": [{**ONE, **ITEM}]}])
def test_first_lookup_of_a_druid(druid: Coordinator, arguments: dict[str, Any]) -> None:
    assert druid.ensure(**arguments, check_mode=True)["changed"]
    warnings = druid.ensure(**arguments)["warnings"]
    # the lookup first: the list would replace those that a Coordinator has not read yet
    assert druid.writes == ["POST /__default/a", "POST ", "POST /__default/a"]
    assert warnings == ["Lookup 'a' of tier '__default': Druid had no lookups, and was initialized for the first one."]
    druid.ensure(**arguments)
    assert druid.writes == []


def test_removing_prepares_nothing(druid: Coordinator) -> None:
    assert not druid.ensure(id="a", state="absent")["changed"]


def test_lookup_that_took_effect_despite_an_error(druid: Coordinator) -> None:
    druid.tiers = {}
    druid.fails = [(502, b"")]
    result = druid.ensure(id="a", spec=spec("b"))
    assert "took effect despite this error" in result["warnings"][0]
    assert result["version"] == druid.stored["version"]


def test_same_name_in_two_tiers(druid: Coordinator) -> None:
    one = {**ONE, **ITEM}
    result = druid.ensure(lookups=[one, {**one, "tier": "hot"}])
    assert [each["after_header"] for each in result["diff"]] == ["lookup __default/a", "lookup hot/a"]
    with pytest.raises(PartialFailure, match=r"lookups\[1\]: id \('a'\): duplicate id"):
        druid.ensure(lookups=[one, one])


def test_secrets_of_the_current_lookup_are_not_in_an_error(druid: Coordinator) -> None:
    """Another client has replaced the lookup after it was read."""
    factory = {"type": "cachedNamespace", "connectorConfig": {"password": "hunter2, 3", "user": "me"}}
    druid.tiers = {"__default": {"a": {"version": "v1", "lookupExtractorFactory": factory}}}
    druid.other = {"version": "v1-9", "lookupExtractorFactory": factory}
    with pytest.raises(PartialFailure, match=r"500 .* can't replace existing spec\.") as error:
        druid.ensure(id="a", spec=spec("b", version="v1-5"))
    assert "hunter2" not in str(error.value) + json.dumps(error.value.result)


def test_new_lookup_replaces_a_removed_one_on_its_servers(druid: Coordinator) -> None:
    druid.tiers = {}
    druid.servers["__default"]["one:8082"]["a"] = "v9"
    assert druid.ensure(id="a", spec=spec("b"))["version"].startswith("v9-")


def test_version_that_a_removed_one_on_its_servers_has_is_rejected(druid: Coordinator) -> None:
    """The servers would keep the removed one, and seem to have loaded the new one."""
    druid.tiers = {}
    druid.servers["__default"]["one:8082"]["a"] = "v9"
    with pytest.raises(PartialFailure, match=r"spec\.version \('v9'\): Druid has 'v9'"):
        druid.ensure(id="a", spec=spec("b", version="v9"))
    assert druid.stored is None


UNLOADED = [
    ({"two:8083": {}}, "Not loaded by: two:8083"),
    ({"two:8083": {"a": "v0"}}, "two:8083 (has version 'v0'). Druid has version 'v1'. Check the log of these servers"),
    ({"two:8083": {"a": "w"}}, "(has version 'w'). Druid has version 'v1'. A server keeps a newer version. Remove the"),
    ({}, "Tier '__default' has no servers."),
]


@pytest.mark.parametrize(("servers", "message"), UNLOADED)
def test_wait_names_what_has_not_loaded_a_lookup(druid: Coordinator, servers: dict[str, Any], message: str) -> None:
    druid.tiers = {"__default": {"a": spec("b", version="v1")}}
    druid.servers = {"__default": {"one:8082": {"a": "v1"}, **servers} if servers else {}}
    with pytest.raises(PartialFailure) as error:
        druid.ensure(id="a", spec=spec("b"), wait=True, wait_timeout=0.0)
    assert message in str(error.value)
    assert [each["loaded"] for each in error.value.result["servers"]] == ([True, False] if servers else [])


def test_lookup_that_another_client_replaces_at_once(druid: Coordinator) -> None:
    druid.tiers, druid.later = {}, spec("c", version="w")
    with pytest.raises(PartialFailure, match=r"Current state: Druid has version 'w', which another client has sent"):
        druid.ensure(id="a", spec=spec("b"))


MEANWHILE = [
    ({}, "Another client has removed the lookup during the wait"),
    ({"a": spec("c", version="w")}, "replaced the lookup during the wait, by version 'w'"),
]


@pytest.mark.parametrize(("lookups", "message"), MEANWHILE)
def test_lookup_that_another_client_changes_during_the_wait(
    druid: Coordinator, lookups: dict[str, Any], message: str
) -> None:
    druid.tiers = {"__default": {"a": spec("b", version="v1")}}
    druid.meanwhile = lambda: druid.tiers.update(__default=lookups)
    with pytest.raises(PartialFailure, match=message):
        druid.ensure(id="a", spec=spec("b"), wait=True, wait_timeout=0.0)


def test_lookups_that_are_too_large_for_one_response(druid: Coordinator) -> None:
    druid.tiers, druid.is_large = {}, True
    assert druid.ensure(lookups=[{**ONE, **ITEM}])["changed"]
    found = druid.info(id="a", tier="__default")
    assert [(each["id"], each["tier"], each["spec"]) for each in found] == [("a", "__default", ONE["spec"])]
    assert druid.info(id="b", tier="__default") == []


def test_change_is_reported_if_it_cannot_be_waited_for(druid: Coordinator) -> None:
    druid.tiers, druid.servers = {"__default": {"a": spec("a", version="v0")}}, None
    with pytest.raises(PartialFailure, match=r"^It is not known which servers .* 403 Forbidden") as error:
        druid.ensure(id="a", spec=spec("b", version="v1"), wait=True)
    assert error.value.result["changed"]


def test_wait_for_several(druid: Coordinator) -> None:
    druid.tiers = {"__default": {"a": spec("b", version="v1"), "b": spec("b", version="v1")}}
    druid.servers = {"__default": {"one:8082": {"a": "v1", "b": "v1"}}}
    items = [{"id": name, "spec": spec("b"), **ITEM} for name in ("a", "b")]
    result = druid.ensure(lookups=[*items, {**ITEM, "id": "c", "state": "absent"}], wait=True)
    loaded = [{"server": "one:8082", "version": "v1", "known": True, "loaded": True}]
    assert [each.get("servers") for each in result["lookups"]] == [loaded, loaded, None]


BEFORE = {"one:8082": {"a": "v0"}, "two:8083": {}}
# The Coordinator does not know yet what a task has loaded that has just started.
AFTER = [{"one:8082": {"a": "v1"}, "task:8100": {}}, {"three:8082": {"a": "v1"}}]


@pytest.mark.parametrize("after", AFTER)
def test_wait_is_for_the_servers_that_are_there(
    druid: Coordinator, monkeypatch: pytest.MonkeyPatch, after: dict[str, Any]
) -> None:
    druid.tiers = {"__default": {"a": spec("b", version="v1")}}
    druid.servers = {"__default": BEFORE}

    druid.meanwhile = lambda: druid.servers.update(__default=after)
    monkeypatch.setattr(wait, "INTERVAL", 0.0)
    servers = druid.ensure(id="a", spec=spec("b"), wait=True)["servers"]
    assert [(each["server"], each["loaded"]) for each in servers] == [(next(iter(after)), True)]
