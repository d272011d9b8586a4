# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The field that Druid rejects, by its message. The messages are those of Druid 33."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.rejected_field import hint_of_rejected
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import changed_at
from hypothesis import given
from hypothesis import strategies as st

SPEC: dict[str, Any] = {
    "type": "kafka",
    "suspended": False,
    "spec": {
        "dataSchema": {
            "dataSource": "clicks",
            "timestampSpec": {"column": "t", "missingValue": None},
            "dimensionsSpec": {"dimensions": ["a", {"type": "long", "name": "b"}]},
            "granularitySpec": {"segmentGranularity": "day", "rollup": True},
            "metricsSpec": [{"type": "count", "name": "c"}],
            "transformSpec": {"transforms": []},
        },
        "ioConfig": {
            "topic": "clicks",
            "inputFormat": {"type": "json"},
            "consumerProperties": {"bootstrap.servers": "kafka:9092"},
            "taskDuration": "PT1H",
            "taskCount": 1,
            "useEarliestOffset": True,
        },
        "tuningConfig": {"type": "kafka", "maxRowsInMemory": 1000},
    },
}
SUPERVISOR = "org.apache.druid.indexing.kafka.supervisor.Kafka"
SCALAR = 'Cannot deserialize value of type `{}` from String "{}": not a valid `int` value'
STRING = (
    "Cannot construct instance of `org.apache.druid.data.input.impl.{}` (although at least one Creator exists): "
    "no String-argument constructor/factory method to deserialize from String value ('{}')"
)
TOKEN = "Cannot deserialize value of type `{}` from {} value (token `JsonToken.START`)"
TYPE_ID = (
    "Please make sure to load all the necessary extensions and jars with type '{0}' on 'druid/coordinator' service. "
    "Could not resolve type id '{0}' as a subtype of `org.apache.druid.X` known type ids = [{1}]{2}"
)
BOOLEAN = (
    "Cannot construct instance of `{}` (although at least one Creator exists): no boolean/Boolean-argument "
    "constructor/factory method to deserialize from boolean value (true)"
)
NO_TYPE = (
    "Could not resolve subtype of [simple type, class org.apache.druid.{}]: missing type id property 'type' (for POJO "
    "property '{}')"
)
DIMENSION = "org.apache.druid.data.input.impl.StringDimensionSchema"
DIMENSIONS_1 = "Check the field spec.dataSchema.dimensionsSpec.dimensions[1]"
LIST = "java.util.ArrayList<org.apache.druid.segment.transform.Transform>"
IO, SCHEMA = ("spec", "ioConfig"), ("spec", "dataSchema")

# (the path of the field, its value, Druid's message, the hint)
CASES: list[tuple[tuple[str, ...], Any, str, str]] = [
    ((*IO, "taskCount"), "many", SCALAR.format("int", "many"), "Check the field spec.ioConfig.taskCount"),
    ((*IO, "taskCount"), [1], TOKEN.format("java.lang.Integer", "Array"), "Check the field spec.ioConfig.taskCount"),
    ((*IO, "taskCount"), {"a": 1}, TOKEN.format("int", "Object"), "Check the field spec.ioConfig.taskCount"),
    (
        (*IO, "taskDuration"),
        "1 hour",
        f'Invalid format: "1 hour" (through reference chain: {SUPERVISOR}SupervisorSpec["spec"]->{SUPERVISOR}'
        f'SupervisorIngestionSpec["ioConfig"]->{SUPERVISOR}SupervisorIOConfig["taskDuration"])',
        "Check the field spec.ioConfig.taskDuration",
    ),
    ((*IO, "taskDuration"), "1 hour", 'Invalid format: "1 hour"', "Check the field spec.ioConfig.taskDuration"),
    (
        (*SCHEMA, "dimensionsSpec", "dimensions"),
        "a",
        TOKEN.format(LIST, "String"),
        "Check the field spec.dataSchema.dimensionsSpec.dimensions",
    ),
    (
        (*SCHEMA, "dimensionsSpec"),
        "t",
        STRING.format("DimensionsSpec", "t"),
        "Check the field spec.dataSchema.dimensionsSpec",
    ),
    (
        (*SCHEMA, "timestampSpec"),
        "t",
        STRING.format("TimestampSpec", "t"),
        "Check the field spec.dataSchema.timestampSpec",
    ),
    (
        (*IO, "inputFormat"),
        "json",
        "Could not resolve subtype of [simple type, class org.apache.druid.data.input.InputFormat]: missing type id "
        "property 'type' (for POJO property 'inputFormat')",
        "Set the field spec.ioConfig.inputFormat.type",
    ),
    (
        (*IO, "inputFormat"),
        {"type": "jsn"},
        TYPE_ID.format("jsn", "csv, json, kafka", " (for POJO property 'inputFormat')"),
        "Check the field spec.ioConfig.inputFormat.type. Did you mean 'json'?",
    ),
    (
        (*SCHEMA, "metricsSpec"),
        [{"type": "count"}, {"type": "longSm"}],
        TYPE_ID.format("longSm", "count, " + "doubleSum, " * 100 + "longSum", " (for POJO property 'metricsSpec')"),
        "Check the field spec.dataSchema.metricsSpec[1].type. Did you mean 'longSum'?",
    ),
    (
        ("type",),
        "kafak",
        TYPE_ID.format("kafak", "autocompact, kafka", ""),
        "Check the field type. Did you mean 'kafka'?",
    ),
    (
        ("type",),
        "mine",
        TYPE_ID.format("mine", "autocompact, kafka", ""),
        "Check the field type. The types are autocompact, kafka. If it is a type of an extension, load the extension "
        "in Druid",
    ),
    (
        (*SCHEMA, "granularitySpec", "segmentGranularity"),
        "dy",
        "Cannot construct instance of `org.apache.druid.java.util.common.granularity.Granularity`, problem: No enum "
        "constant org.apache.druid.java.util.common.granularity.GranularityType.DY",
        "Check the field spec.dataSchema.granularitySpec.segmentGranularity",
    ),
    (
        (*SCHEMA, "granularitySpec", "segmentGranularity"),
        5,
        "Cannot construct instance of `org.apache.druid.java.util.common.granularity.Granularity` (although at least "
        "one Creator exists): no int/Int-argument constructor/factory method to deserialize from Number value (5)",
        "Check the field spec.dataSchema.granularitySpec.segmentGranularity",
    ),
    (
        (*IO, "consumerProperties"),
        ["a"],
        TOKEN.format("java.util.LinkedHashMap<java.lang.String,java.lang.Object>", "Array"),
        "Check the field spec.ioConfig.consumerProperties",
    ),
    (
        (*SCHEMA, "transformSpec", "transforms"),
        {"a": 1},
        TOKEN.format(LIST, "Object"),
        "Check the field spec.dataSchema.transformSpec.transforms",
    ),
    (
        ("suspended",),
        "perhaps",
        'Cannot deserialize value of type `java.lang.Boolean` from String "perhaps": only "true" or "false" recognized',
        "Check the field suspended",
    ),
    ((*SCHEMA, "dimensionsSpec", "dimensions"), ["a", True], BOOLEAN.format(DIMENSION), DIMENSIONS_1),
    ((*SCHEMA, "dimensionsSpec", "dimensions"), ["a", ["b"]], TOKEN.format(DIMENSION, "Array"), DIMENSIONS_1),
    (
        (*SCHEMA, "dimensionsSpec", "dimensions"),
        ["a", None],
        'Cannot construct instance of `org.apache.druid.data.input.impl.DimensionsSpec`, problem: Cannot invoke "'
        'org.apache.druid.data.input.impl.DimensionSchema.getName()" because "input" is null',
        DIMENSIONS_1,
    ),
    (
        (*SCHEMA, "transformSpec"),
        True,
        BOOLEAN.format("org.apache.druid.segment.transform.TransformSpec"),
        "Check the field spec.dataSchema.transformSpec",
    ),
    (
        (*SCHEMA, "metricsSpec"),
        [{"type": "count"}, True],
        NO_TYPE.format("query.aggregation.AggregatorFactory", "metricsSpec"),
        "Set the field spec.dataSchema.metricsSpec[1].type",
    ),
    (
        (*SCHEMA, "projections"),
        [{"name": "p"}],
        NO_TYPE.format("data.input.impl.AggregateProjectionSpec", "projections"),
        "Set the field spec.dataSchema.projections[0].type",
    ),
    (
        (*IO, "configOverrides"),
        {"idleConfig": {}},
        NO_TYPE.format("indexing.seekablestream.extension.KafkaConfigOverrides", "configOverrides"),
        "Remove the field spec.ioConfig.configOverrides. Druid itself has no type for it, only an extension can have "
        "one",
    ),
    (
        (*IO, "configOverrides"),
        {"type": "x"},
        TYPE_ID.format("x", "", " (for POJO property 'configOverrides')"),
        "Check the field spec.ioConfig.configOverrides.type. Druid itself has no type for it, only an extension can "
        "have one. Load the extension in Druid, or remove the field",
    ),
    (
        (*IO, "consumerProperties"),
        {"x": "y"},
        "Cannot construct instance of `org.apache.druid.indexing.kafka.supervisor.KafkaSupervisorIOConfig`, problem: "
        "consumerProperties must contain entry for [bootstrap.servers]",
        "Set the field spec.ioConfig.consumerProperties.bootstrap.servers",
    ),
    (
        (*IO, "consumerProperties"),
        None,
        "Cannot construct instance of `org.apache.druid.indexing.kafka.supervisor.KafkaSupervisorIOConfig`, problem: "
        "consumerProperties",
        "Set the field spec.ioConfig.consumerProperties",
    ),
    # about no single field
    (
        (*IO, "topic"),
        None,
        "Cannot construct instance of `X`, problem: Either topic or topicPattern must be specified",
        "",
    ),
    (("type",), "kafka", "a is already suspended", ""),
]


@pytest.mark.parametrize(
    ("path", "value", "message", "hint"), CASES, ids=[f"{path[-1]} {value}"[:40] for path, value, *_rest in CASES]
)
def test_field_of_the_message(path: tuple[str, ...], value: Any, message: str, hint: str) -> None:
    document = changed_at(SPEC, path[:-1], lambda parent: {**parent, path[-1]: value})

    assert hint_of_rejected(document, message) == hint


def test_value_in_many_places_names_none() -> None:
    document = {f"field{number}": "x" for number in range(10)}

    assert hint_of_rejected(document, SCALAR.format("int", "x")) == ""


RULE = "org.apache.druid.server.coordinator.rules"


def test_rules_have_the_name_of_their_option_and_a_position() -> None:
    rules = [{"type": "loadForever"}, {"type": "loadByPeriod", "tieredReplicants": {"hot": "two"}}]
    assert hint_of_rejected(rules, SCALAR.format("int", "two")) == "Check the field rules[1].tieredReplicants.hot"

    chain = f'(through reference chain: java.util.ArrayList[1]->{RULE}.IntervalDropRule["interval"])'
    rules = [{"type": "loadForever"}, {"type": "dropByInterval", "interval": "x"}]
    assert hint_of_rejected(rules, f'Invalid interval[x]: [Invalid format: "x"] {chain}') == (
        "Check the field rules[1].interval"
    )


@pytest.mark.parametrize(("replicas", "kind"), [(2, "Integer"), (1.5, "Floating-point"), (True, "Boolean")])
def test_replicas_without_tiers(replicas: Any, kind: str) -> None:
    rules = [{"type": "loadForever", "useDefaultTierForNull": True, "tieredReplicants": replicas}]
    message = TOKEN.format("java.util.LinkedHashMap<java.lang.String,java.lang.Integer>", kind)
    assert hint_of_rejected(rules, message) == "Check the field rules[0].tieredReplicants"


def test_a_scalar_of_another_kind() -> None:
    message = TOKEN.format("java.lang.Integer", "Boolean")
    assert hint_of_rejected({"maxSegmentsToMove": True}, message) == "Check the field maxSegmentsToMove"
    assert hint_of_rejected({"maxSegmentsToMove": True, "pauseCoordination": True}, message) == ""


@pytest.mark.parametrize("rule", [{"period": "P1M"}, "loadForever"])
def test_rules_without_a_type(rule: Any) -> None:
    message = f"Could not resolve subtype of [simple type, class {RULE}.Rule]: missing type id property 'type'"
    assert hint_of_rejected([{"type": "loadForever"}, rule], message) == "Set the field rules[1].type"


@pytest.mark.parametrize("document", [None, "text", 5, [], {}])
def test_requests_without_fields(document: Any) -> None:
    assert hint_of_rejected(document, SCALAR.format("int", "x")) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3),
    max_leaves=10,
)


@given(JSON, st.sampled_from([message for _path, _value, message, _hint in CASES]), st.text(max_size=20))
def test_any_document_and_message(document: Any, message: str, more: str) -> None:
    hint_of_rejected(document, message.replace("a", more))
