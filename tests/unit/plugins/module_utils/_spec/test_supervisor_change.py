# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The desired state of a supervisor."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor_change import (
    DesiredSupervisor,
    differ_in_suspension_only,
    merged_spec,
    unknown_supervisor_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput

BEFORE: dict[str, Any] = {
    "type": "kafka",
    "spec": {
        "dataSchema": {"dataSource": "a", "granularitySpec": {"segmentGranularity": "HOUR"}},
        "ioConfig": {"topic": "t", "topicPattern": None, "taskCount": 1, "autoScalerConfig": None},
        "tuningConfig": {
            "indexSpec": {"bitmap": "x"},
            "indexSpecForIntermediatePersists": {"bitmap": "x"},
            "reportParseExceptions": True,
            "maxParseExceptions": 0,
        },
    },
    "context": None,
    "suspended": True,
}


def _after(spec: Any, suspended: bool | None = None) -> Any:
    return merged_spec(BEFORE, DesiredSupervisor("a", {"type": "kafka", **spec}, suspended))


def _created(spec: Any, suspended: bool | None = None) -> Any:
    return merged_spec(None, DesiredSupervisor("a", {"type": "kafka", **spec}, suspended))


def test_desired_spec_is_unchanged() -> None:
    assert _after({"spec": {"ioConfig": {"taskCount": 1}}}) == BEFORE


@pytest.mark.parametrize("tuning", ["x", [1], 5, True])
def test_invalid_tuning_config_is_left_to_druid(tuning: Any) -> None:
    assert _after({"spec": {"tuningConfig": tuning}})["spec"]["tuningConfig"] == tuning


def test_unspecified_suspension_is_unchanged() -> None:
    assert _after({})["suspended"] is True
    assert _after({}, suspended=False)["suspended"] is False
    assert _after({"suspended": False})["suspended"] is False


def test_new_supervisor_runs_by_default() -> None:
    assert _created({"spec": {}}) == {"type": "kafka", "spec": {}, "suspended": False}
    assert _created({"spec": {}}, suspended=True)["suspended"] is True
    assert _created({"spec": {}, "suspended": True})["suspended"] is True


def test_missing_supervisor_requires_a_spec() -> None:
    with pytest.raises(InvalidInput, match=r"id \('a'\): the supervisor does not exist; set spec to create it"):
        merged_spec(None, DesiredSupervisor("a", None, True))


def test_absent_is_none() -> None:
    assert merged_spec(BEFORE, DesiredSupervisor("a", is_present=False)) is None
    assert merged_spec(None, DesiredSupervisor("a", is_present=False)) is None


@pytest.mark.parametrize("enabled", [True, "true"])
def test_autoscaler_controls_the_number_of_tasks(enabled: Any) -> None:
    scaled = {"spec": {"ioConfig": {"autoScalerConfig": {"enableTaskAutoScaler": enabled}, "taskCount": 7}}}

    assert _after(scaled)["spec"]["ioConfig"]["taskCount"] == 1


def test_user_controls_the_number_of_tasks_without_an_autoscaler() -> None:
    scaled = {"spec": {"ioConfig": {"autoScalerConfig": {"enableTaskAutoScaler": False}, "taskCount": 7}}}

    assert _after(scaled)["spec"]["ioConfig"]["taskCount"] == 7


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "kinesis"},
        {"spec": {"ioConfig": {"topic": "other"}}},
        {"spec": {"ioConfig": {"topic": None, "topicPattern": "t.*"}}},
    ],
)
def test_other_stream_is_rejected(spec: Any) -> None:
    with pytest.raises(InvalidInput, match=r"the supervisor reads .*; offsets of one stream are invalid in another"):
        _after(spec)


def test_derived_fields_are_derived_again() -> None:
    after = _after({"spec": {"tuningConfig": {"indexSpec": {"bitmap": "y"}, "reportParseExceptions": False}}})

    assert after["spec"]["tuningConfig"] == {"indexSpec": {"bitmap": "y"}, "reportParseExceptions": False}


def test_specified_field_is_not_derived() -> None:
    stated = {"reportParseExceptions": False, "maxParseExceptions": 0}

    after = _after({"spec": {"tuningConfig": stated}})

    assert after["spec"]["tuningConfig"]["maxParseExceptions"] == 0


UNKNOWN: dict[str, tuple[Any, set[tuple[str, ...]]]] = {
    "none": ({"spec": {"ioConfig": {"taskCount": 2}}}, set()),
    "a typing error": ({"spec": {"ioConfig": {"taskCuont": 2}}}, {("spec", "ioConfig", "taskCuont")}),
    "at the top": ({"contxt": {}}, {("contxt",)}),
    "what Druid leaves out when it is not set": ({"spec": {"dataSchema": {"projections": []}}}, set()),
    "what is not given back as a whole": ({"spec": {"ioConfig": {"autoScalerConfig": {"what": 1}}}}, set()),
}


@pytest.mark.parametrize(("spec", "places"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown(spec: Any, places: set[tuple[str, ...]]) -> None:
    assert set(unknown_supervisor_fields(BEFORE, DesiredSupervisor("a", spec))) == places


def test_no_field_is_unknown_if_druid_omits_fields() -> None:
    kinesis = {"type": "kinesis", "spec": {"ioConfig": {"stream": "s"}}}
    wanted = DesiredSupervisor("a", {"type": "kinesis", "spec": {"ioConfig": {"endpoint": "e"}}})

    assert not list(unknown_supervisor_fields(None, wanted))
    assert not list(unknown_supervisor_fields(kinesis, wanted))


def test_an_unknown_field_does_not_change_the_supervisor() -> None:
    assert _after({"contxt": {}, "spec": {"ioConfig": {"taskCuont": 2}}}) == BEFORE


@pytest.mark.parametrize(
    ("after", "only"),
    [
        ({**BEFORE, "suspended": False}, True),
        ({**BEFORE, "suspended": False, "context": {}}, False),
    ],
)
def test_differ_in_suspension_only(after: Any, only: bool) -> None:
    assert differ_in_suspension_only(BEFORE, after) is only
