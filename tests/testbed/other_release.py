# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Another release of Druid: a real Druid 33 behind a proxy that changes its responses to those of that release.

This covers supervisors and dynamic configurations, for releases whose artifacts are not available. The table
DIFFERENCES contains the differences. A row with ``seen_on`` comes from the responses of a running release, 28.0.0 or
37.0.0. The range of releases of each row, and the rows without ``seen_on``, come from Druid's documentation and source.
Everything else is the response of Druid 33, which parses, stores and returns the specifications.

A supervisor with an id of its own writes, behind the proxy, to a datasource of that name. The proxy itself stores what
Druid 33 does not have, by the rules of the release's source.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from .proxy import Answer, Forward, Loss, Request, Upstream, proxy

_SUPERVISORS = "/druid/indexer/v1/supervisor"
_ONE = re.compile(rf"{_SUPERVISORS}/(?P<id>[^/?]+)(?P<part>/[a-zA-Z]+)?(?:\?count=.*)?$")
_STREAMS = ("kafka", "kinesis", "rabbit")
_JSON = (("Content-Type", "application/json"),)
_INDEX_SPECS = ("indexSpec", "indexSpecForIntermediatePersists")
# Jetty's page, with Druid's message in it as recorded; Druid itself does not convert this exception to JSON.
_PAGE = (
    "<html>\n<head>\n<title>Error 500 {words}</title>\n</head>\n"
    "<body><h2>HTTP ERROR 500 {words}</h2>\n<h3>Caused by:</h3><pre>{words}\n</pre>\n</body>\n</html>\n"
)
_ANOTHER_STREAM = (
    "org.apache.druid.error.DruidException: Update of the input source stream from [{was}] to [{desired}] is not "
    "supported for a running supervisor."
)

Json = Any


@dataclass
class Memory:
    """What the release would know that Druid 33 does not, by the id of the supervisor."""

    datasources: dict[str, str] = field(default_factory=dict)
    index_specs: dict[str, dict[str, Json]] = field(default_factory=dict)
    further_rows: Counter[str] = field(default_factory=Counter)
    configs: dict[str, dict[str, Json]] = field(default_factory=dict)


# Forwards a request, with a difference.
Layer = Callable[[Memory, Request, Forward], Answer | Loss]


def _ignores_the_flag(_memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    return forward(replace(request, path=_SUPERVISORS)) if _is_submission(request) else forward(request)


def _adds_a_row_each_time(memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    """Druid 33 adds one only where the bytes have changed."""
    if _is_submission(request):
        supervisor = _id_of(json.loads(request.body))
        rows = len(_read(forward, f"{supervisor}/history") or [])
        answer = forward(request)
        if _is_success(answer) and rows == len(_read(forward, f"{supervisor}/history") or []):
            memory.further_rows[supervisor] += 1
        return answer
    one = _ONE.match(request.path)
    if one is None or one["part"] != "/history":
        return forward(request)
    return _with_json(forward(request), lambda rows: rows[:1] * memory.further_rows[one["id"]] + rows)


def _has_own_ids(memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    """Without an id it is that of the datasource; it is in the returned specification."""
    if _is_submission(request):
        spec = json.loads(request.body)
        if spec.get("type") not in _STREAMS:
            return forward(request)
        source = _schema(spec)["dataSource"]
        supervisor = spec.get("id") or source
        memory.datasources[supervisor] = source
        return forward(_with_body(request, _renamed(spec, supervisor)))
    return _with_json(forward(request), lambda answer: _in_specs(request, answer, lambda i, s: _own(memory, i, s)))


def _names_the_datasource(_memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    """The entries of the list have it at their top."""
    if not _is_full_list(request):
        return forward(request)
    return _with_json(
        forward(request), lambda entries: [{**each, "dataSource": _source_of(each["spec"])} for each in entries]
    )


def _refuses_another_stream(_memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    if not _is_submission(request):
        return forward(request)
    spec = json.loads(request.body)
    before = _read(forward, _id_of(spec))
    was, desired = (_stream(each) for each in (before, spec))
    if before is None or was == desired:
        return forward(request)
    words = _ANOTHER_STREAM.format(was=was, desired=desired)
    return Answer(500, (("Content-Type", "text/html;charset=iso-8859-1"),), _PAGE.format(words=words).encode())


def _leaves_index_specs_unset(memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    """Druid 33 returns the effective values; here unspecified ones are null."""
    if _is_submission(request):
        spec = json.loads(request.body)
        specified = (spec.get("spec") or spec).get("tuningConfig") or {}
        common = specified.get("indexSpec")
        memory.index_specs[_id_of(spec)] = {name: specified.get(name) or common or {} for name in _INDEX_SPECS}
        return forward(request)
    return _with_json(
        forward(request), lambda answer: _in_specs(request, answer, lambda i, s: _with_unset(memory, i, s))
    )


def _has_newer_fields(_memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    def newer(_supervisor: str, spec: Json) -> Json:
        return _with_part(spec, "tuningConfig", lambda tuning: {**_NEWER_TUNING, **tuning})

    return _with_json(forward(request), lambda answer: _in_specs(request, answer, newer))


def _reports_what_it_did(_memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    if not _is_submission(request):
        return forward(request)
    supervisor = _id_of(json.loads(request.body))
    before = _read(forward, supervisor)
    answer = forward(request)
    is_modified = before != _read(forward, supervisor)
    is_restarted = is_modified or "skipRestartIfUnmodified=true" not in request.path
    return _with_json(answer, lambda reported: {**reported, "modified": is_modified, "restarted": is_restarted})


def _has_broker_config(memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    """CoordinatorBrokerConfigsResource and BrokerDynamicConfig: a field that is null or left out stays."""
    return _keeps(memory, _BROKER, _BROKER_CONFIG, request, forward)


def _has_task_runner(memory: Memory, request: Request, forward: Forward) -> Answer | Loss:
    """KubernetesTaskExecutionConfigResource and DefaultKubernetesTaskRunnerDynamicConfig, as if it were loaded."""
    return _keeps(memory, _TASK_RUNNER, _TASK_RUNNER_CONFIG, request, forward)


def _keeps(
    memory: Memory, path: str, fields: Mapping[str, Callable[[Json], Json]], request: Request, forward: Forward
) -> Answer | Loss:
    if request.path.startswith(f"{path}/history"):
        return Answer(200, _JSON, b"[]")
    if request.path.partition("?")[0] != path:
        return forward(request)
    if request.method == "GET":
        # a configuration that is not set has an empty response, except for fields with a default
        unset = {name: default for name, read in fields.items() if (default := read(None)) is not None}
        found = memory.configs.get(path, unset)
        return Answer(200, _JSON, json.dumps(found).encode() if found else b"")
    specified = json.loads(request.body)
    was = memory.configs.get(path, {})
    memory.configs[path] = {
        name: was.get(name, read(None)) if specified.get(name) is None else read(specified[name])
        for name, read in fields.items()
    }
    return Answer(200, (), b"")


def _with(**defaults: Json) -> Callable[[Json], Json]:
    """Mappings as Jackson gives them back: with all their fields, and no others."""

    def read(value: Json) -> Json:
        known = {name: value.get(name) for name in defaults}
        return {name: defaults[name] if each is None else each for name, each in known.items()}

    return read


def _each(element: Callable[[Json], Json], *, default: Json) -> Callable[[Json], Json]:
    return lambda value: default if value is None else [element(each) for each in value]


def _block_rule(rule: Json) -> Json:
    read = _with(ruleName=None, dataSources=None, queryTypes=None, contextMatches=None)(rule)
    matches = read["contextMatches"]
    # a Map<String, String>
    as_text = matches and {name: each if isinstance(each, str) else json.dumps(each) for name, each in matches.items()}
    return {**read, "contextMatches": as_text}


def _timeouts(value: Json) -> Json:
    read = _with(perSegmentTimeoutMs=0, monitorOnly=False)
    found = {name: read(each) for name, each in (value or {}).items()}
    return {name: {**each, "perSegmentTimeoutMs": int(each["perSegmentTimeoutMs"])} for name, each in found.items()}


def _pod_template(value: Json) -> Json:
    if value is None or value["type"] != "selectorBased":
        return value
    selector = _with(**{"selectionKey": None, "context.tags": None, "type": None, "dataSource": None})
    return {"type": value["type"], "selectors": [selector(each) for each in value["selectors"]]}


_BROKER = "/druid/coordinator/v1/broker/config"
_BROKER_CONFIG = {
    "queryBlocklist": _each(_block_rule, default=[]),
    "queryContext": lambda value: value or {},
    "perSegmentTimeoutConfig": _timeouts,
}
_TASK_RUNNER = "/druid/indexer/v1/k8s/taskrunner/executionconfig"
_TASK_RUNNER_CONFIG = {
    "podTemplateSelectStrategy": _pod_template,
    "capacity": lambda value: None if value is None else int(value),
}
_NEWER_TUNING = {
    "skipBytesInMemoryOverheadCheck": False,
    "skipSequenceNumberAvailabilityCheck": False,
    "repartitionTransitionDuration": "PT120S",
    "segmentWriteOutMediumFactory": None,
    "intermediateHandoffPeriod": "P2147483647D",
}


@dataclass(frozen=True)
class Difference:
    """What releases do otherwise than Druid 33, those whose major version is within the bounds."""

    what: str
    layer: Layer
    seen_on: str | None = None
    since: int = 0
    until: int = 999

    def concerns(self, release: str) -> bool:
        """Whether that release has it."""
        return self.since <= int(release.partition(".")[0]) <= self.until


# The first one is nearest to the client, and sees what those below it make of Druid 33.
DIFFERENCES = (
    Difference("skipRestartIfUnmodified is ignored", _ignores_the_flag, "28.0.0", until=32),
    Difference("each submission adds a row to the history", _adds_a_row_each_time, "28.0.0", until=32),
    Difference("the answer has modified and restarted", _reports_what_it_did, since=38),
    Difference("another topic is refused with 500 and a page of HTML", _refuses_another_stream, "37.0.0", since=34),
    Difference("entries of the list name their datasource", _names_the_datasource, "37.0.0", since=37),
    Difference("tuningConfig has more fields", _has_newer_fields, "37.0.0", since=37),
    Difference("fields of indexSpec that nobody states are null", _leaves_index_specs_unset, "37.0.0", since=35),
    Difference("streams have ids of their own", _has_own_ids, "37.0.0", since=34),
    Difference("Brokers have a dynamic configuration", _has_broker_config, since=37),
    Difference("the Kubernetes task runner has a capacity, and merges what is sent", _has_task_runner, since=36),
)


def released(release: str | None, upstream: Upstream) -> AbstractContextManager[Upstream]:
    """That release put over the Druid 33 behind, or what is behind itself where it is none."""
    return nullcontext(upstream) if release is None else other_release(release, upstream)


@contextmanager
def other_release(release: str, upstream: Upstream) -> Iterator[Upstream]:
    """Put the differences of a release, such as ``37.0.0``, over the Druid 33 behind; yield where that is."""
    memory = Memory()
    layers = [each.layer for each in DIFFERENCES if each.concerns(release)]

    def go(request: Request, forward: Forward) -> Answer | Loss:
        for layer in reversed(layers):
            forward = _over(layer, memory, forward)
        if request.path == "/status":
            return _with_json(forward(request), lambda status: {**status, "version": release})
        return forward(request)

    with proxy(upstream, lambda _request: go) as url:
        yield Upstream(url)


def _over(layer: Layer, memory: Memory, forward: Forward) -> Forward:
    return lambda request: layer(memory, request, forward)


# Requests.


def _is_submission(request: Request) -> bool:
    return request.method == "POST" and request.path.partition("?")[0] == _SUPERVISORS


def _is_full_list(request: Request) -> bool:
    return request.method == "GET" and request.path.startswith(f"{_SUPERVISORS}?full")


def _with_body(request: Request, document: Json) -> Request:
    return replace(request, body=json.dumps(document).encode())


def _read(forward: Forward, name: str) -> Json:
    """What Druid has of a supervisor; None if it does not know it."""
    answer = forward(Request("GET", f"{_SUPERVISORS}/{name}", "", b""))
    return _document(answer) if isinstance(answer, Answer) and answer.status == 200 else None


# Responses.


def _is_success(answer: Answer | Loss) -> bool:
    return isinstance(answer, Answer) and answer.status == 200


def _with_json(answer: Answer | Loss, change: Callable[[Json], Json]) -> Answer | Loss:
    if not isinstance(answer, Answer) or answer.status != 200 or "json" not in _header(answer, "content-type"):
        return answer
    if not answer.body:
        # configurations that are not set
        return answer
    return Answer(200, _JSON, json.dumps(change(_document(answer))).encode())


def _document(answer: Answer) -> Json:
    is_packed = _header(answer, "content-encoding") == "gzip"
    return json.loads(gzip.decompress(answer.body) if is_packed else answer.body)


def _header(answer: Answer, name: str) -> str:
    return {each.lower(): value for each, value in answer.headers}.get(name, "")


def _in_specs(request: Request, answer: Json, change: Callable[[str, Json], Json]) -> Json:
    """Change the specifications in a response, at any place of that request."""
    if _is_full_list(request):
        return [{**each, "spec": change(each["id"], each["spec"])} for each in answer]
    one = _ONE.match(request.path)
    if one is None:
        return answer
    if one["part"] == "/history":
        return [{**each, "spec": change(one["id"], each["spec"])} for each in answer]
    return change(one["id"], answer) if one["part"] in (None, "/suspend", "/resume") else answer


# Specifications: the parts are below spec or, in old ones and in copies that Druid returns, at the top.


def _with_part(spec: Json, name: str, change: Callable[[Json], Json]) -> Json:
    if spec.get("type") not in _STREAMS:
        return spec
    inner = spec.get("spec")
    changed = {name: change(spec[name])} if spec.get(name) else {}
    below = {"spec": {**inner, name: change(inner[name])}} if inner and inner.get(name) else {}
    return {**spec, **changed, **below}


def _schema(spec: Json) -> Json:
    return (spec.get("spec") or spec)["dataSchema"]


def _renamed(spec: Json, source: str) -> Json:
    return _with_part(spec, "dataSchema", lambda schema: {**schema, "dataSource": source})


def _own(memory: Memory, supervisor: str, spec: Json) -> Json:
    if spec.get("type") not in _STREAMS:
        return spec
    return {**_renamed(spec, memory.datasources.get(supervisor, supervisor)), "id": supervisor}


def _with_unset(memory: Memory, supervisor: str, spec: Json) -> Json:
    specified = memory.index_specs.get(supervisor, {})

    def kept(name: str, effective: Json) -> Json:
        known = specified.get(name, {})
        return {key: value if known.get(key) is not None else None for key, value in effective.items()}

    def unset(tuning: Json) -> Json:
        return {**tuning, **{name: kept(name, tuning[name]) for name in _INDEX_SPECS if tuning.get(name)}}

    return _with_part(spec, "tuningConfig", unset)


def _id_of(spec: Json) -> str:
    """The id that a submission is about."""
    if spec.get("type") == "autocompact":
        return f"autocompact__{spec['spec']['dataSource']}"
    return str(spec.get("id") or _schema(spec)["dataSource"])


def _source_of(spec: Json) -> str | None:
    found = _schema(spec) if spec.get("type") in _STREAMS else spec.get("spec") or {}
    return found.get("dataSource")


def _stream(spec: Json) -> Json:
    io = ((spec or {}).get("spec") or spec or {}).get("ioConfig") or {}
    return io.get("topic") or io.get("topicPattern") or io.get("stream")
