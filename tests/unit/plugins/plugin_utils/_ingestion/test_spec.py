# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A validation error names the field and the fix."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import TYPES, Ingestion, problems, warnings
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    KAFKA,
    ingestion,
    nested,
)

SECRET = "hunter2hunter2"
TEXT = '{"type": "kafka", "spec": {"ioConfig": {"consumerProperties": {"password": "%s"' % SECRET  # noqa: UP031
NATIVE = "spec.ingestion.nativeSpec"

WRONG: list[tuple[str, Ingestion, str]] = [
    (
        "neither cluster nor endpoint",
        ingestion(druidCluster=None),
        "spec.druidCluster: set druidCluster ",
    ),
    ("both", ingestion(endpoint={"url": "http://druid:8888"}), "spec.druidCluster: endpoint.url is also set."),
    ("an unknown type", ingestion("index-hadoop"), "spec.ingestion.type ('index-hadoop'): must be one of kafka, "),
    ("no specification", ingestion(ingestion={"nativeSpec": None}), "spec.ingestion.nativeSpec: the spec of the sup"),
    ("broken JSON", ingestion(ingestion={"nativeSpec": None, "spec": TEXT}), "spec.ingestion.spec: the spec of the"),
    (
        "a list",
        ingestion(ingestion={"nativeSpec": None, "spec": "[1]"}),
        "spec.ingestion.spec: the spec of the supervisor must be a mapping, or JSON of one: the type is list.",
    ),
    (
        "null",
        ingestion(ingestion={"nativeSpec": None, "spec": "null"}),
        "spec.ingestion.spec: the spec of the supervisor must be a mapping, or JSON of one: the type is null.",
    ),
    (
        "a number",
        ingestion(ingestion={"nativeSpec": None, "spec": 5}),
        "spec.ingestion.spec: the spec of the supervisor must be a mapping, or JSON of one: the type is int.",
    ),
    (
        "invalid JSON",
        ingestion(ingestion={"nativeSpec": None, "spec": '{"a": NaN}'}),
        "spec.ingestion.spec: the spec of",
    ),
    (
        "compaction of a compaction supervisor",
        ingestion("autocompact", {"spec": {"dataSource": "pages"}}, ingestion={"compaction": {}}),
        "spec.ingestion.compaction: a compaction supervisor has the compaction in its spec. Remove it.",
    ),
    ("two types", ingestion("rabbit", KAFKA), "spec.ingestion.nativeSpec.type ('kafka'): must be 'rabbit' for ingest"),
    ("no query", ingestion("sql", {"a": 1}), "spec.ingestion.nativeSpec.query: must be a SQL statement"),
    ("a context that is a string", ingestion("sql", {"query": "q", "context": SECRET}), f"{NATIVE}.context: must be"),
    ("a context that is a number", ingestion("sql", {"query": "q", "context": 5}), f"{NATIVE}.context: must be"),
    ("a context that is a list", ingestion("sql", {"query": "q", "context": []}), f"{NATIVE}.context: must be"),
    (
        "the id of a query that is a number",
        ingestion("sql", {"query": "q", "context": {"sqlQueryId": 5}}),
        f"{NATIVE}.context.sqlQueryId (5): an id must be a string. Quote it",
    ),
    (
        "the id of a task that is a number",
        ingestion("native-batch", {**BATCH, "id": 7}),
        f"{NATIVE}.id (7): an id must be a string. Quote it",
    ),
    (
        "the id of a task that is a mapping",
        ingestion("native-batch", {**BATCH, "id": [{"password": SECRET}]}),
        f"{NATIVE}.id ([{{'password': '********'}}]): an id must be a string",
    ),
    (
        "rules without a datasource",
        ingestion("sql", {"query": "q"}, ingestion={"rules": [{}]}),
        "spec.ingestion.nativeSpec: comp",
    ),
    (
        "compaction of another datasource",
        ingestion("native-batch", BATCH, ingestion={"compaction": {"dataSource": "other"}}),
        "spec.ingestion.compaction.dataSource ('other'): must be the datasource of the spec",
    ),
]


@pytest.mark.parametrize(("parsed", "message"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_validation_error(parsed: Ingestion, message: str) -> None:
    [problem] = problems(parsed)
    assert (problem.reason, problem.message[: len(message)]) == ("InvalidSpec", message)
    assert SECRET not in problem.message


@pytest.mark.parametrize(("levels", "is_reported"), [(100, False), (101, True), (600, True), (100_000, True)])
def test_too_deeply_nested_spec_is_an_error(levels: int, is_reported: bool) -> None:
    found = problems(ingestion(ingestion={"nativeSpec": None, "spec": nested(levels)}))
    assert any("nested too deeply (more than 100 levels)" in each.message for each in found) == is_reported
    if levels < 1000:
        same = problems(ingestion(document=json.loads(nested(levels))))
        assert [each.message.split(":", 1)[1] for each in same] == [each.message.split(":", 1)[1] for each in found]


@pytest.mark.parametrize("kind", TYPES)
def test_valid_spec_has_no_problems(kind: str) -> None:
    documents: dict[str, Any] = {"sql": {"query": "q"}, "native-batch": BATCH}
    document = documents.get(kind, {"spec": {"dataSchema": {"dataSource": "pages"}}})
    parsed = ingestion(kind, document)
    assert (problems(parsed), warnings(parsed)) == ((), ())


CONSUMER: dict[str, Any] = {
    "sasl.jaas.config": f'login required password="{SECRET}";',
    "bootstrap.servers": "kafka:9092",
}
PROVIDER = {"type": "environment", "variables": {"sasl.jaas.config": "JAAS"}}


def with_consumer(properties: Any) -> dict[str, Any]:
    """Return a specification with these properties of the consumer."""
    return {"spec": {**KAFKA["spec"], "ioConfig": {"topic": "pages", "consumerProperties": properties}}}


@pytest.mark.parametrize(
    ("parsed", "place"),
    [
        (ingestion(document=with_consumer(CONSUMER)), "nativeSpec has secrets in plain text (spec.ioConfig.consumer"),
        (
            ingestion(ingestion={"nativeSpec": None, "spec": json.dumps(with_consumer({"password": SECRET}))}),
            "spec has secrets in plain text (spec.ioConfig.consumerProperties.password)",
        ),
        (
            ingestion("sql", {"query": f"SELECT * FROM TABLE(HTTP(password => '{SECRET}'))"}),
            "nativeSpec has secrets in plain text (query)",
        ),
    ],
)
def test_secrets_in_plain_text_cause_a_warning(parsed: Ingestion, place: str) -> None:
    [warning] = warnings(parsed)
    assert warning.startswith(f"spec.ingestion.{place}")
    assert SECRET not in warning


@pytest.mark.parametrize(
    "properties",
    [
        {"bootstrap.servers": "kafka:9092"},
        {"druid.dynamic.config.provider": PROVIDER},
        {"ssl.keystore.password": {"type": "environment", "variable": "KEYSTORE"}},
    ],
)
def test_environment_variables_of_druid_cause_no_warning(properties: Any) -> None:
    assert warnings(ingestion(document=with_consumer(properties))) == ()


def test_spec_in_addition_to_native_spec_causes_a_warning() -> None:
    parsed = ingestion(ingestion={"spec": "{}"})
    assert problems(parsed) == ()
    assert warnings(parsed) == (
        "spec.ingestion has both nativeSpec and spec: nativeSpec takes precedence. Remove spec.",
    )
