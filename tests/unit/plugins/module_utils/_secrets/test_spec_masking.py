# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is secret by its place in a specification leaves by no way, whatever its name and its value.

Queries are searched as well, which needs the positions of the strings in a statement.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import CHANGED
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import MASK
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import (
    SECRET_FIELDS,
    SecretField,
    hidden,
    literals,
    marked,
    masked,
    masked_pair,
    masker_of,
)
from hypothesis import given
from hypothesis import strategies as st

SECRET = "hunter2-of-mine"


def stream(kind: str, **io: Any) -> dict[str, Any]:
    """A supervisor of a stream."""
    return {"type": kind, "spec": {"dataSchema": {"dataSource": "wiki"}, "ioConfig": io, "tuningConfig": None}}


def batch(**source: Any) -> dict[str, Any]:
    """A native task that reads an input source."""
    io = {"type": "index_parallel", "inputSource": source, "inputFormat": {"type": "json"}}
    return {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "wiki"}, "ioConfig": io}}


def scheduled(query: str) -> dict[str, Any]:
    """A supervisor of type scheduled_batch."""
    return {
        "type": "scheduled_batch",
        "id": "wiki",
        "schedulerConfig": {"type": "unix", "schedule": "0 0 * * *"},
        "spec": {"query": query, "context": {"maxNumTasks": 2}},
    }


def extern(source: str) -> str:
    """A query whose input source is this text."""
    return f"REPLACE INTO wiki OVERWRITE ALL SELECT * FROM TABLE(EXTERN('{source}', '{{\"type\": \"csv\"}}')) -- it's"


PROVIDER = {"type": "mapString", "config": {"anything": "%%"}}
DEFAULT = {"type": "default", "password": "%%"}
# Each has the secret once where %% is.
SPECS: list[Any] = [
    *(
        stream("kafka", topic="wiki", consumerProperties={"bootstrap.servers": "localhost:9092", name: "%%"})
        for name in (
            *("sasl.jaas.config", "ssl.key.password", "ssl.keystore.password", "ssl.truststore.password"),
            *("ssl.keystore.key", "sasl.oauthbearer.client.credentials.client.secret", "basic.auth.user.info"),
        )
    ),
    {"type": "kafka", "dataSchema": {}, "ioConfig": {"consumerProperties": {"ssl.key.password": "%%"}}},
    stream("kafka", consumerProperties={"ssl.key.password": DEFAULT}),
    stream("kafka", consumerProperties={"druid.dynamic.config.provider": PROVIDER}),
    stream("kafka", consumerProperties={"druid.dynamic.config.provider": {"type": "vault", "config": {"a": ["%%"]}}}),
    stream("kafka", consumerProperties={"password": 1234567, "ssl.key.password": "%%"}),
    stream("kinesis", stream="wiki", awsAssumedRoleArn="arn:aws:iam::1:role/wiki", awsExternalId="%%"),
    stream("kinesis", stream="wiki", endpoint="https://me:%%@kinesis.example.com"),
    {"lookupExtractorFactory": {"type": "kafka", "kafkaProperties": {"schema.registry.ssl.key": "%%"}}},
    {"lookupExtractorFactory": {"extractionNamespace": {"type": "jdbc", "connectorConfig": {"password": DEFAULT}}}},
    stream("rabbit", uri="rabbitmq-stream://me:%%@localhost:5552"),
    stream("rabbit", uri="rabbitmq-stream://localhost", consumerProperties={"username": "me", "password": "%%"}),
    stream("rabbit", consumerProperties={"druid.dynamic.config.provider": PROVIDER}),
    *(
        stream("kafka", inputFormat={"avroBytesDecoder": {"type": "schema_registry", **registry}})
        for registry in (
            {"headers": {"X-Anything": "%%"}},
            {"headers": PROVIDER},
            {"config": {"basic.auth.user.info": "%%", "basic.auth.credentials.source": "USER_INFO"}},
            {"config": PROVIDER},
            {"config": {"schema.registry.ssl.key.password": "%%"}},
        )
    ),
    {"type": "index_kafka", "ioConfig": {"type": "kafka", "consumerProperties": {"sasl.jaas.config": "%%"}}},
    batch(type="s3", uris=["s3://b/a"], properties={"accessKeyId": "%%"}),
    batch(type="s3", properties={"accessKeyId": DEFAULT, "secretAccessKey": {"type": "environment", "variable": "X"}}),
    batch(type="s3", properties={"secretAccessKey": DEFAULT}),
    batch(type="s3", properties={"assumeRoleArn": "arn:aws:iam::1:role/wiki", "assumeRoleExternalId": "%%"}),
    batch(type="s3", proxyConfig={"host": "localhost", "username": "me", "password": "%%"}),
    batch(type="oss", properties={"secretKey": DEFAULT}),
    batch(type="azureStorage", properties={"key": "%%"}),
    batch(type="azureStorage", properties={"sharedAccessStorageToken": "%%"}),
    batch(type="azureStorage", properties={"appRegistrationClientSecret": "%%", "tenantId": "t"}),
    batch(type="http", httpAuthenticationUsername="me", httpAuthenticationPassword="%%"),
    batch(type="http", httpAuthenticationPassword=DEFAULT),
    batch(type="http", requestHeaders={"Authorization": "Basic %%"}),
    batch(type="http", requestHeaders={"X-Anything": "%%"}),
    batch(type="http", uris=["https://me:%%@example.com/a"]),
    batch(type="sql", database={"type": "mysql", "connectorConfig": {"user": "me", "password": "%%"}}),
    batch(type="sql", database={"connectorConfig": {"connectURI": "jdbc:mysql://localhost/a?user=me&password=%%"}}),
    batch(type="combining", delegates=[{"type": "azureStorage", "properties": {"key": "%%"}}]),
    batch(type="iceberg", icebergCatalog={"type": "rest", "catalogProperties": {"fs.s3a.secret.key": "%%"}}),
    {"type": "index_hadoop", "spec": {"ioConfig": {"metadataUpdateSpec": {"type": "mysql", "password": "%%"}}}},
    {"type": "index_hadoop", "spec": {"tuningConfig": {"jobProperties": {"fs.azure.account.key.a": "%%"}}}},
    # a native query, as the controller of a query has it
    {
        "type": "query_controller",
        "spec": {"query": {"dataSource": {"inputSource": {"type": "azureStorage", "properties": {"key": "%%"}}}}},
    },
    *(
        each
        for query in (
            extern('{"type": "http", "httpAuthenticationPassword": "%%"}'),
            extern('{"type": "http", "requestHeaders": {"X-Anything": "%%"}}'),
            extern('{"type": "s3", "properties": {"secretAccessKey": {"type": "default", "password": "%%"}}}'),
            extern('{"type": "s3", "properties": {"assumeRoleExternalId": "%%"}}'),
            extern('{"type": "azureStorage", "properties": {"key": "%%"}}'),
            "SELECT * FROM TABLE(HTTP(userName => 'me', password => '%%', uris => ARRAY['https://example.com']))",
            "SELECT * FROM TABLE(S3(uris => ARRAY['s3://a/b'], accessKeyId => 'AK', secretAccessKey=>'%%'))",
            "SELECT * FROM TABLE(HTTP(headers => '{\"X-Anything\": \"%%\"}', uris => ARRAY['https://example.com']))",
        )
        for each in (scheduled(query), {"query": query, "context": {}}, {"sqlQuery": query})
    ),
    {"query": "...", "parameters": [{"type": "VARCHAR", "value": '{"type": "http", "requestHeaders": {"a": "%%"}}'}]},
    {"type": "compact", "context": {"a": '{"type":"azureStorage","properties":{"key":"%%"}}'}},
    # the responses of /history and of ?full, and the arguments of a module
    [{"version": "1", "spec": stream("kafka", consumerProperties={"druid.dynamic.config.provider": PROVIDER})}],
    {"supervisors": [{"spec": stream("kinesis", awsExternalId="%%")}]},
]


def with_secret(value: Any, secret: str) -> Any:
    """Return the value with the secret instead of %%, escaped for the text that it is in."""
    if isinstance(value, dict):
        return {name: with_secret(child, secret) for name, child in value.items()}
    if isinstance(value, list):
        return [with_secret(element, secret) for element in value]
    if not isinstance(value, str) or "%%" not in value:
        return value
    written = json.dumps(secret)[1:-1] if '"%%"' in value else secret
    return value.replace("%%", written.replace("'", "''") if "TABLE(" in value else written)


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a document."""
    if isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from texts(child)
    yield str(value)


def has_secret(value: Any, secret: str) -> bool:
    """Return whether a secret can be read in a result, escaped or not."""
    forms = {secret, json.dumps(secret)[1:-1], secret.replace("'", "''"), json.dumps(secret)[1:-1].replace("'", "''")}
    return any(form in text for form in forms for text in (*texts(value), json.dumps(value)))


@pytest.mark.parametrize("spec", SPECS)
def test_is_masked(spec: Any) -> None:
    whole = with_secret(spec, SECRET)
    assert has_secret(whole, SECRET)
    assert not has_secret(masked(whole), SECRET)
    assert MASK in json.dumps(masked(whole))


@pytest.mark.parametrize("spec", SPECS)
def test_is_hidden_in_messages_of_druid(spec: Any) -> None:
    whole = with_secret(spec, SECRET)
    output = {"message": f"cannot log in with {SECRET}!", "spec": whole}
    assert not has_secret(hidden(output, whole), SECRET)
    assert masker_of([whole]).text(f"refused: {SECRET}!") in (f"refused: {MASK}!", "refused: ****************!")


@pytest.mark.parametrize("spec", SPECS)
def test_change_of_only_the_secret_is_shown(spec: Any) -> None:
    before, after = masked_pair(with_secret(spec, SECRET), with_secret(spec, "another-one"))
    assert json.dumps(after).replace(CHANGED, MASK) == json.dumps(before)
    assert json.dumps(after).count(CHANGED) == 1
    assert not has_secret([before, after], SECRET)
    assert not has_secret([before, after], "another-one")


@pytest.mark.parametrize("spec", SPECS)
def test_change_beside_a_secret_does_not_show_the_secret(spec: Any) -> None:
    before, after = masked_pair({"x": with_secret(spec, SECRET), "a": 1}, {"x": with_secret(spec, SECRET), "a": 2})
    assert before["x"] == after["x"]
    assert not has_secret([before, after], SECRET)


@pytest.mark.parametrize("spec", SPECS)
def test_the_same_as_text(spec: Any) -> None:
    text = json.dumps(with_secret(spec, SECRET))
    assert not has_secret(masked({"spec": text}), SECRET)
    assert not has_secret(masked_pair({"spec": text}, {"spec": text + " "}), SECRET)


LEFT: list[Any] = [
    stream("kafka", topic="wiki", consumerProperties={"bootstrap.servers": "a:1", "sasl.mechanism": "PLAIN"}),
    stream("kafka", topic="wiki", consumerProperties={"ssl.keystore.location": "/a", "key.deserializer": "a.b"}),
    stream("kafka", inputFormat={"type": "kafka", "headerColumnPrefix": "kafka.header."}),
    batch(type="s3", properties={"accessKeyId": {"type": "environment", "variable": "ID"}}),
    batch(type="azureStorage", properties={"tenantId": "t", "appRegistrationClientId": "i"}),
    batch(type="http", uris=["https://example.com"], httpAuthenticationUsername="me"),
    batch(type="inline", data="a\n1\nit's 'a' {\"key\": 1}"),
    scheduled(extern('{"type": "http", "uris": ["https://example.com/a"]}')),
    {
        "query": "SELECT * FROM TABLE(HTTP(userName => 'me', passwordEnvVar => 'PW', uris => ARRAY['https://example.com']))"
    },
    {"type": "noop", "context": {"config": {"a": "b"}, "properties": {"key": "b"}}},
    {"requestHeaders": None, "headers": {}, "accessKeyId": "", "awsExternalId": None, "consumerProperties": []},
    {"type": ["a"], "config": 1, "headers": True},
    {"headers": {"type": {}}, "requestHeaders": {"type": []}},
]


@pytest.mark.parametrize("spec", LEFT)
def test_keeps(spec: Any) -> None:
    assert marked(spec) == spec
    assert masked(spec) == spec


def text_of(levels: int, inside: str = "") -> str:
    """Return a JSON text with a value in this many lists."""
    return "[" * levels + inside + "]" * levels


def mappings(levels: int, inside: str = "1") -> str:
    """Return a JSON text with a value in this many mappings."""
    return '{"a":' * levels + inside + "}" * levels


def texts_in_texts(levels: int) -> str:
    """Return a text in texts: none is nested deeply by itself."""
    text = ""
    for _each in range(5):
        text = mappings(levels, json.dumps(text))
    return text


SECRET_IN_A_MAPPING = json.dumps({"requestHeaders": {"a": SECRET}})
# Too deep to be parsed, and too deep only in total.
DEEP = [
    *map(text_of, (100, 450, 900, 5000)),
    *map(mappings, (100, 330, 450, 900, 5000)),
    *map(texts_in_texts, range(70, 100, 5)),
]


@pytest.mark.parametrize("text", DEEP, ids=[str(len(text)) for text in DEEP])
def test_nested_text_is_searched_to_the_same_depth(text: str) -> None:
    """Neither alone nor in an annotation, a query, or behind a secret."""
    for document in (text, {"spec": text}, {"metadata": {"annotations": {"a": text}}}, {"query": extern(text)}):
        assert marked(document) == document


@pytest.mark.parametrize(("levels", "is_found"), [(97, True), (98, False)])
def test_secret_in_a_text_is_found_down_to_the_depth_limit(levels: int, is_found: bool) -> None:
    """Of 100 levels, the mapping that contains the text, its lists, and the two mappings of the secret."""
    text = text_of(levels, SECRET_IN_A_MAPPING)
    assert (marked({"spec": text}) != {"spec": text}) is is_found


def test_a_secret_beside_what_is_nested_too_deeply_is_found() -> None:
    text = json.dumps({"requestHeaders": {"a": SECRET}, "deep": "%%"}).replace('"%%"', text_of(450))
    assert not has_secret(masked({"spec": text}), SECRET)


def planted(place: SecretField, names: Iterator[str], secret: Any) -> dict[str, Any]:
    """Return a mapping with the secret at the place."""
    value = secret
    for part in reversed(place.path):
        value = {part.replace("*", next(names)): value}
    return {**value, **({"type": place.kind} if place.kind else {})}


NAMES = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)
# no blanks at the ends: a value in properties has none
SECRETS = st.text(min_size=1, max_size=20).map(lambda text: f"S3cret{text}3nd")
AROUND = st.lists(st.one_of(NAMES, st.none()), max_size=3)


def surrounded(document: Any, around: list[str | None]) -> Any:
    """Return the document in lists and mappings."""
    for name in around:
        document = [document, 1] if name is None else {name: document, "other": 2}
    return document


@given(
    st.sampled_from(SECRET_FIELDS),
    st.data(),
    SECRETS,
    AROUND,
    st.sampled_from(["plain", "provider", "list", "mapping"]),
)
def test_no_path_reveals_a_secret(
    place: SecretField, data: st.DataObject, secret: str, around: list[str | None], form: str
) -> None:
    """Wherever a secret is planted in the table's places, neither results nor diffs nor errors have it."""
    provider = {"type": "default", "password": secret}
    forms = {"plain": secret, "provider": provider, "list": [secret], "mapping": {"a": secret}}
    names = iter(lambda: data.draw(NAMES), "")
    whole = surrounded(planted(place, names, forms[form]), around)
    unchanged = copy.deepcopy(whole)
    assert not has_secret(masked(whole), secret)
    assert not has_secret(masked_pair(whole, surrounded({}, around)), secret)
    assert not has_secret(masked_pair(None, whole), secret)
    assert not has_secret(hidden([f"no {secret}.", json.dumps(f"no {secret}.")], whole), secret)
    assert whole == unchanged


@given(st.sampled_from([spec for spec in SPECS if "TABLE(" in json.dumps(spec)]), SECRETS)
def test_no_query_reveals_a_secret(spec: Any, secret: str) -> None:
    """Whatever the secret has in it that JSON or SQL write in another way."""
    assert not has_secret(masked(with_secret(spec, secret)), secret)


LEAVES = st.none() | st.booleans() | st.integers() | st.text()
# No name of a secret: some examples are strings in the code that is tested.
OTHER_NAMES = st.text("abc:/ {}\u00e9", max_size=5)
DOCUMENTS = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(OTHER_NAMES, inner), max_leaves=10)


@given(DOCUMENTS)
def test_other_values_are_kept(document: Any) -> None:
    assert marked(document) == document


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("SELECT 1", []),
        ("SELECT 'a', 'it''s', ''", [("", "a"), ("", "it's"), ("", "")]),
        ("SELECT \"it's\", 'a'", [("", "a")]),
        ("SELECT 1 -- don't\n, 'a' /* don't, 'b' */, 'c'", [("", "a"), ("", "c")]),
        ("SELECT 1 /* don't, 'b'", []),
        ("SELECT 1 - 2 / 3, 'a'", [("", "a")]),
        ("HTTP(userName => 'me', password=>'x', ARRAY['u'])", [("userName", "me"), ("password", "x"), ("", "u")]),
        ("WHERE a='b' AND c >= 'd'", [("", "b"), ("", "d")]),
        ("'not ended", []),
    ],
)
def test_literals(statement: str, found: list[tuple[str, str]]) -> None:
    assert [(literal.argument, literal.text) for literal in literals(statement)] == found


@given(st.text(), st.text(), st.from_regex(r"[A-Za-z]\w{0,20}", fullmatch=True))
def test_string_literal_round_trips(text: str, other: str, name: str) -> None:
    raw = text.replace("'", "''")
    (first, second) = literals(f"SELECT {name} => '{raw}', '{other.replace(chr(39), chr(39) * 2)}'")
    assert (first.argument, first.text, second.text) == (name, text, other)
    assert first.start == len(f"SELECT {name} => '")


@pytest.mark.parametrize("hostile", ["'", "/*", "/", "*", "-", "--", '"', "a", " ", "a => ", "a =>", "=>", "''", "\\"])
def test_any_statement_is_parsed_fast(hostile: str) -> None:
    """With anything worse than linear time these would take hours."""
    list(literals("'" + hostile * (200_000 // len(hostile))))
