# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes: with an entry in the audit history, and of entries of a list that others change at the same time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ServerError
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ATTEMPTS, change_list, post
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import ListChange, entries_of
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import error_finding
from hypothesis import given
from hypothesis import strategies as st

PATH = "/config"
NAMES = st.frozensets(st.sampled_from("abcdef"))


class Coordinator:
    """A list that a POST replaces, with its history; `after_read` and `after_write` are what others do then."""

    def __init__(
        self,
        names: list[str],
        after_read: Callable[[Coordinator], None] | None = None,
        after_write: Callable[[Coordinator], None] | None = None,
    ) -> None:
        self.history: list[tuple[str, list[str]]] = [("person", names)]
        self.after_read, self.after_write = after_read, after_write
        self.bodies: list[Any] = []
        self.comments: list[str] = []
        self.has_history = True

    @property
    def names(self) -> list[str]:
        return self.history[-1][1]

    def write(self, names: list[str], author: str = "person") -> None:
        self.history.append((author, names))

    def get(self, path: str, params: Any = None) -> Any:
        if path == PATH:
            found = {"decommissioningNodes": self.names, "maxSegmentsToMove": 5}
            if self.after_read:
                self.after_read(self)
            return found
        assert path == f"{PATH}/history"
        if not self.has_history:
            raise ServerError(500, "no history", "GET", path)
        return [
            {"auditInfo": {"author": author}, "payload": json.dumps({"decommissioningNodes": names})}
            for author, names in reversed(self.history[-params["count"] :])
        ]

    def post(self, path: str, body: Any, *, idempotent: bool, audit: Any) -> None:
        assert (path, idempotent) == (PATH, True)
        self.bodies.append(body)
        self.comments.append(audit["X-Druid-Comment"])
        self.write(body["decommissioningNodes"], audit["X-Druid-Author"])
        if self.after_write:
            self.after_write(self)


def change(added: str = "", removed: str = "") -> ListChange:
    return ListChange("decommissioningNodes", frozenset(added), frozenset(removed))


def written(druid: Coordinator, what: ListChange) -> None:
    change_list(cast(DruidClient, druid), PATH, what, "add a")


def test_only_the_list_is_sent_with_the_entries_of_others() -> None:
    druid = Coordinator(["z", "b"])
    written(druid, change("a", "b"))
    assert druid.bodies == [{"decommissioningNodes": ["a", "z"]}]


def test_nothing_is_sent_if_nothing_changes() -> None:
    druid = Coordinator(["a"])
    written(druid, change("a", "b"))
    assert druid.bodies == []


def once(act: Callable[[Coordinator], None]) -> Callable[[Coordinator], None]:
    result: list[bool] = []

    def interfere(druid: Coordinator) -> None:
        if not result:
            result.append(True)
            act(druid)

    return interfere


def test_an_entry_that_another_client_adds_meanwhile_is_restored() -> None:
    druid = Coordinator(["z"], once(lambda found: found.write([*found.names, "y"])))
    written(druid, change("a"))
    assert sorted(druid.names) == ["a", "y", "z"]


def test_an_entry_that_another_client_removes_meanwhile_is_not_restored() -> None:
    druid = Coordinator(["y", "z"], once(lambda found: found.write(["z"])))
    written(druid, change("a"))
    assert sorted(druid.names) == ["a", "z"]


def test_a_list_that_is_not_in_the_history_keeps_the_entries_of_others() -> None:
    """The metadata store was restored, or its audit entries are deleted."""

    class Restored(Coordinator):
        @property
        def names(self) -> list[str]:
            return super().names if self.bodies else ["z"]

    druid = Restored([])
    written(druid, change("a"))
    assert druid.names == ["a", "z"]


def test_an_entry_that_another_client_removes_is_written_again() -> None:
    druid = Coordinator([], after_write=once(lambda found: found.write([])))
    written(druid, change("a"))
    assert druid.names == ["a"]


def test_another_client_that_never_stops_is_an_error() -> None:
    druid = Coordinator([], after_write=lambda found: found.write([]))
    with pytest.raises(DruidError, match="other clients have overwritten the change") as error:
        written(druid, change("a"))
    assert len(druid.bodies) == ATTEMPTS
    assert error_finding(error.value).reason == "RejectedByDruid"


def test_without_a_history_the_entry_is_written_all_the_same() -> None:
    druid = Coordinator(["z"])
    druid.has_history = False
    written(druid, change("a"))
    assert druid.names == ["a", "z"]


def test_a_write_has_an_entry_in_the_audit_history() -> None:
    druid = Coordinator([])
    post(cast(DruidClient, druid), PATH, {"decommissioningNodes": []}, "disable worker m:8091", idempotent=True)
    assert druid.comments == ["disable worker m:8091"]
    assert druid.history[-1][0] == "druidops"


@given(NAMES, NAMES, NAMES)
def test_a_change_touches_only_its_entries(
    before: frozenset[str], added: frozenset[str], removed: frozenset[str]
) -> None:
    what = ListChange("f", added, removed - added)
    after = set(what.applied(before))
    assert after - added == before - what.removed - added
    assert added <= after
    assert what.is_applied(after)


@pytest.mark.parametrize(
    ("config", "expected"),
    [({}, []), ({"f": None}, []), ({"f": ["a", "b"]}, ["a", "b"]), ({"f": "a, b,"}, ["a", "b"]), ({"f": ""}, [])],
)
def test_druid_accepts_a_list_and_a_text(config: dict[str, Any], expected: list[str]) -> None:
    assert entries_of(config, "f") == expected
