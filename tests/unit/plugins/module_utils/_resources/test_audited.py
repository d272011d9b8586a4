# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Druid makes of a document is learnt from its audit history: it causes no second write, and hides no change."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Forbidden, ServerError
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change, converge
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import (
    COMPACTION,
    COORDINATOR,
    ConfigKind,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError

TYPO = {"maxSegmentsToMove": 20, "colour": "red"}


class Druid:
    """A Druid with one configuration, which stores known fields only, and no value above 10."""

    product = "Druid"

    def __init__(self) -> None:
        self.version: tuple[int, ...] = (33, 0, 0)
        self.config: dict[str, Any] = {"maxSegmentsToMove": 5, "replicantLifetime": 15}
        self.rows: list[Any] = []
        self.requests: list[str] = []
        self.error: Exception | None = None
        self.loses_responses = False

    def get(self, path: str, params: Any = None) -> Any:
        """Return the configuration, or the newest rows of its history."""
        self.requests.append(f"GET {path}")
        if not path.endswith("/history"):
            return {**self.config}
        if self.error:
            raise self.error
        return self.rows[: params["count"]]

    def post(self, path: str, body: Any, *, audit: Any, **_options: Any) -> None:
        """Change the configuration, and record it."""
        self.requests.append(f"POST {path}")
        self.change(body, audit.get("X-Druid-Author", ""), audit.get("X-Druid-Comment", ""))
        if self.loses_responses:
            raise ServerError(500, "gone", "POST", path)

    def change(self, body: Any, author: str = "", comment: str = "") -> None:
        """Change the configuration, as another client does."""
        self.config.update({name: min(10, body[name]) for name in self.config if name in body})
        row = {"auditInfo": {"author": author, "comment": comment}, "payload": json.dumps(self.config)}
        self.rows.insert(0, row)

    @staticmethod
    def serves(_path: str) -> bool:
        """Return whether Druid has this API."""
        return True


@pytest.fixture
def druid() -> Druid:
    return Druid()


def applied(druid: Any, desired: Any, kind: ConfigKind = COORDINATOR, **more: Any) -> tuple[Change, list[str]]:
    """Specify the configuration, and return the change and the warnings."""
    resource = DynamicConfig(druid, kind, desired, more.pop("audit", None))
    druid.requests.clear()
    return converge(resource, check_mode=False, **more), resource.warnings


def assert_unchanged(druid: Druid, desired: Any, *words: str) -> None:
    change, warnings = applied(druid, desired)
    assert (change.changed, [each for each in druid.requests if "POST" in each]) == (False, [])
    assert all(word in " ".join(warnings) for word in words)


def test_what_druid_makes_of_a_document_is_sent_once(druid: Druid) -> None:
    change, warnings = applied(druid, TYPO)
    assert (change.changed, change.after["colour"], change.now["maxSegmentsToMove"]) == (True, "red", 10)
    assert [text.partition(": ")[2].partition(".")[0] for text in warnings] == [
        "Druid ignores unknown field colour",
        "Druid normalizes maxSegmentsToMove to 10",
    ]
    assert_unchanged(druid, TYPO, "colour", "normalizes maxSegmentsToMove to 10")
    # as another writer has it
    assert_unchanged(druid, {**TYPO, "maxSegmentsToMove": "20"})
    # until the specification changes
    assert applied(druid, {**TYPO, "colour": "blue"})[0].changed


def test_a_history_is_read_only_if_something_differs(druid: Druid) -> None:
    applied(druid, {"maxSegmentsToMove": 7})
    assert_unchanged(druid, {"maxSegmentsToMove": 7})
    assert druid.requests == [f"GET {COORDINATOR.path}"]


def test_changes_of_others_are_reverted_with_all_that_is_specified(druid: Druid) -> None:
    applied(druid, TYPO)
    druid.change({"replicantLifetime": 3})
    assert_unchanged(druid, TYPO)
    druid.change({"maxSegmentsToMove": 4})
    change, _warnings = applied(druid, TYPO)
    assert (change.changed, change.after) == (True, {"replicantLifetime": 3, **TYPO})
    assert_unchanged(druid, TYPO)


def test_two_specifications_of_parts_have_each_their_own_write(druid: Druid) -> None:
    other = {"replicantLifetime": 30}
    applied(druid, TYPO)
    applied(druid, other)
    assert_unchanged(druid, TYPO)
    assert_unchanged(druid, other)


def test_what_a_release_dropped_is_sent_once_to_a_newer_one(druid: Druid) -> None:
    applied(druid, TYPO)
    druid.version = (34, 0, 0)
    assert applied(druid, TYPO)[0].changed
    assert_unchanged(druid, TYPO)


@pytest.mark.parametrize(
    "row",
    [
        None,
        {},
        {"auditInfo": None},
        {"auditInfo": {"comment": 1}},
        {"auditInfo": {"comment": "druidops 1 x"}, "payload": "{}"},
    ],
)
def test_rows_of_others_are_skipped(druid: Druid, row: Any) -> None:
    applied(druid, TYPO)
    druid.rows.insert(0, row)
    assert_unchanged(druid, TYPO)


def test_a_row_without_a_document_is_sent_again(druid: Druid) -> None:
    applied(druid, TYPO)
    druid.rows[0]["payload"] = "Payload was not stored as its size exceeds configured limit"
    assert applied(druid, TYPO)[0].changed


def test_without_a_history_no_unknown_field_is_sent(druid: Druid) -> None:
    druid.error = Forbidden(403, "no", "GET", "history")
    assert_unchanged(druid, {"colour": "red"}, "history of it cannot be read", "colour")
    # any other change takes it along
    change, _warnings = applied(druid, {"colour": "red", "maxSegmentsToMove": 7})
    assert (change.changed, change.after["colour"]) == (True, "red")
    # Druid has none of this kind
    change, warnings = applied(druid, {"colour": "red"}, COMPACTION)
    assert (change.changed, len(warnings), druid.requests) == (False, 1, [f"GET {COMPACTION.path}"])


def test_a_lost_response_is_recognized_by_the_comment(druid: Druid) -> None:
    druid.loses_responses = True
    change, warnings = applied(druid, TYPO)
    assert (change.changed, change.problem) == (True, "")
    assert any("The change took effect despite this error" in text for text in warnings)


def test_the_comment_of_the_user_is_before_the_marker(druid: Druid) -> None:
    applied(druid, {"maxSegmentsToMove": 7}, audit=audit("alice", "for c"))
    info = druid.rows[0]["auditInfo"]
    assert (info["author"], info["comment"].partition(" druidops 1 ")[0]) == ("alice", "for c")


def test_strict_sends_nothing(druid: Druid) -> None:
    for is_sent in (False, True):
        with pytest.raises(DruidError, match=r"ignores unknown field colour\. Check its name\. Nothing is sent"):
            applied(druid, TYPO, is_strict=True)
        assert len(druid.rows) == is_sent
        applied(druid, TYPO)
