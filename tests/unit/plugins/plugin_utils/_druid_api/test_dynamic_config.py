# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dynamic configurations of a cluster: which changes are written, and which values Druid normalizes."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Unreachable
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.dynamic_config import (
    find_changes,
    write_changes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.normalization import (
    Store,
    with_normalized,
    without_normalization,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid

COORDINATOR = "/druid/coordinator/v1/config"
IN_STATUS = Store(name=lambda change: change.id, state=lambda change: [change.desired, change.before])


class Coordinator(FakeDruid):
    """A Coordinator that stores known fields only, and no value above 10."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = dict(config)
        super().__init__({COORDINATOR: self.config})

    def post(self, path: str, body: Mapping[str, Any], **_options: Any) -> None:
        """Write the configuration."""
        assert path == COORDINATOR
        self.config.update({name: min(10, body[name]) for name in self.config if name in body})


def normalized_by(known: Mapping[str, str]) -> Any:
    return lambda change: without_normalization(change, known, IN_STATUS)


def test_normalized_value_is_written_once() -> None:
    coordinator: Any = Coordinator({"maxSegmentsToMove": 5, "replicantLifetime": 1})
    desired = {"coordinator": {"maxSegmentsToMove": 20}}
    found = find_changes(coordinator, desired, normalized_by({}))
    assert [step.title for step in found.steps] == ["update dynamic configuration of the Coordinator"]
    assert pickle.loads(pickle.dumps(found)) == found
    written = write_changes(coordinator, found.steps)
    assert [(step.before["maxSegmentsToMove"], step.after["maxSegmentsToMove"]) for step in written.steps] == [(5, 10)]
    assert [text for text in written.warnings if "Druid normalizes maxSegmentsToMove" in text]
    known = with_normalized({}, written.steps, written.remaining, IN_STATUS)
    assert known == {"coordinator": digest([desired["coordinator"], coordinator.config])}
    again = find_changes(coordinator, desired, normalized_by(known))
    assert (again.steps, bool(again.warnings)) == ((), True)
    # until the spec or the configuration in Druid changes
    assert find_changes(coordinator, {"coordinator": {"maxSegmentsToMove": 30}}, normalized_by(known)).steps
    coordinator.config["replicantLifetime"] = 2
    assert find_changes(coordinator, desired, normalized_by(known)).steps


def test_value_that_druid_keeps_is_not_recorded() -> None:
    coordinator: Any = Coordinator({"maxSegmentsToMove": 5})
    found = find_changes(coordinator, {"coordinator": {"maxSegmentsToMove": 7}}, normalized_by({}))
    written = write_changes(coordinator, found.steps)
    assert (written.warnings, with_normalized({"coordinator": "1"}, written.steps, written.remaining, IN_STATUS)) == (
        (),
        {},
    )


class Unavailable(FakeDruid):
    """A Druid that does not respond."""

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        """Fail."""
        raise Unreachable("GET", path, "refused", sent=False, is_transient=True)


def test_connection_error_stops_all_further_requests() -> None:
    client: Any = Unavailable({})
    found = find_changes(client, {"coordinator": {"a": 1}, "overlord": {"a": 1}}, normalized_by({}))
    [finding] = found.findings
    assert finding.reason == "DruidUnreachable"
    assert finding.message.startswith("Dynamic configuration of the Coordinator: ")
    assert found.steps == ()


def test_change_names_its_object() -> None:
    coordinator: Any = Coordinator({"maxSegmentsToMove": 5})
    [step] = find_changes(coordinator, {"coordinator": {"maxSegmentsToMove": 7}}, normalized_by({})).steps
    what = "dynamic configuration of the Coordinator"
    assert step == DruidChange(
        "dynamic configuration", "coordinator", what, {"maxSegmentsToMove": 7}, {"maxSegmentsToMove": 5}, step.after
    )
