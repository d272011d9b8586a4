# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The forms of Druid's responses (Druid 27 to 39), as far as they are read: other servers have other forms. Pure.

A path without a form accepts any JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import MAX_LEVELS, is_too_deep

_Check = Callable[[Any], bool]

_MIB = 1024 * 1024
# A form of Druid's has more bytes than this for each mapping and each list; Python needs up to 240.
_MIN_BYTES = 12
_MAX_INT = 2**63 - 1
# In UTC; years may have a sign, and more than four digits.
_INSTANT = r"-?\d{4,9}-\d\d-\d\dT[\d:.]+Z"


def parse(body: bytes) -> Any:
    """Return the JSON document. ValueError if it is no JSON, or more than a document of Druid's is.

    It is too deep, consists of empty lists or mappings, or has numbers that are not 64-bit.
    """
    containers = body.count(b"[") + body.count(b"{")
    if containers * _MIN_BYTES > max(len(body), _MIB):
        raise ValueError("too many values")
    has_long_numbers = re.search(rb"\d{19}", body) is not None
    try:
        # as UTF-8, as which the numbers were looked for: json would detect other encodings
        document = json.loads(body.decode("utf-8-sig"), parse_int=_int if has_long_numbers else None)
    except RecursionError:
        raise ValueError("too deep") from None
    if containers > MAX_LEVELS and is_too_deep(document):
        raise ValueError("too deep")
    return document


def _int(text: str) -> int:
    # the length first: int takes quadratic time
    if len(text) > len(str(_MAX_INT)) + 1 or not -_MAX_INT - 1 <= int(text) <= 2 * _MAX_INT + 1:
        raise ValueError("not a 64-bit number")
    return int(text)


def description(body: bytes) -> str:
    """Return what a body is, without its content."""
    if not body.strip():
        return "an empty body"
    try:
        document = parse(body)
    except ValueError:
        return "an HTML page" if re.match(rb"\s*<(?:!doctype|html|head|body|\?xml)\b", body, re.IGNORECASE) else "text"
    return next((name for kind, name in _NAMES if isinstance(document, kind)), "a JSON value")


_NAMES = ((dict, "a JSON object of another form"), (list, "a JSON list of another form"))


def fits(method: str, path_and_query: str, document: Any) -> bool:
    """Return whether the document of a successful response can be Druid's; None is an empty body."""
    form = _form_of(method, path_and_query)
    return form is None or form.check(document)


def is_distinctive(method: str, path_and_query: str, document: Any) -> bool:
    """Return whether a document that fits shows that the server is Druid: an empty one may be from any server."""
    form = _form_of(method, path_and_query)
    return form is None or form.is_distinctive(document)


def _form_of(method: str, path_and_query: str) -> _Form | None:
    return next((form for form in _FORMS if form.request.fullmatch(f"{method} {path_and_query}")), None)


def _not_empty(document: Any) -> bool:
    return document not in (None, [], {})


def _anything(_document: Any) -> bool:
    return True


def _nothing(document: Any) -> bool:
    return document is None


def _text(document: Any) -> bool:
    return isinstance(document, str)


def _version(document: Any) -> bool:
    return isinstance(document, str) and re.fullmatch(r"[\w.+-]{1,64}", document) is not None


def _address(document: Any) -> bool:
    return isinstance(document, str) and re.fullmatch(r"https?://[\w.:\[\]-]+", document) is not None


def _segment_id(document: Any) -> bool:
    return isinstance(document, str) and re.search(rf"_{_INSTANT}_{_INSTANT}_.", document) is not None


def _interval(document: Any) -> bool:
    return isinstance(document, str) and re.fullmatch(rf"{_INSTANT}/{_INSTANT}", document) is not None


def _number(document: Any) -> bool:
    return isinstance(document, int | float) and not isinstance(document, bool)


def _flag(document: Any) -> bool:
    return isinstance(document, bool)


def _each(check: _Check) -> _Check:
    return lambda document: isinstance(document, list) and all(map(check, document))


def _values(check: _Check) -> _Check:
    return lambda document: isinstance(document, Mapping) and all(map(check, document.values()))


def _either(*checks: _Check) -> _Check:
    return lambda document: any(check(document) for check in checks)


def _both(*checks: _Check) -> _Check:
    return lambda document: all(check(document) for check in checks)


def _has(_optional: Mapping[str, _Check] | None = None, /, **required: _Check) -> _Check:
    """Return a check for a mapping with these fields; an optional one can also be missing or null."""
    optional = {name: _either(_nothing, check) for name, check in (_optional or {}).items()}

    def check(document: Any) -> bool:
        return (
            isinstance(document, Mapping)
            and all(name in document and check(document[name]) for name, check in required.items())
            and all(check(document.get(name)) for name, check in optional.items())
        )

    return check


def _has_one_of(*names: str) -> _Check:
    return lambda document: isinstance(document, Mapping) and not document.keys().isdisjoint(names)


_MAPPING = _values(_anything)
_TASK = _has(
    {
        "statusCode": _text,
        "runnerStatusCode": _text,
        "errorMsg": _text,
        "type": _text,
        "dataSource": _text,
        "location": _MAPPING,
    },
    id=_text,
)
_STARTED = _each(_has(id=_text))
_SUPERVISOR_STATUS = _has(
    {
        "detailedState": _text,
        "state": _text,
        "aggregateLag": _number,
        "recentErrors": _each(_MAPPING),
        "activeTasks": _STARTED,
        "publishingTasks": _STARTED,
        "latestOffsets": _MAPPING,
    }
)
_CHANNEL = _has({"rows": _each(_number), "rowsProcessed": _number})
_REPORT = _has({"counters": _values(_values(_values(_CHANNEL))), "stages": _each(_MAPPING)})
_SPEC = _both(_has({"suspended": _flag, "spec": _MAPPING}, type=_text), _has_one_of("suspended", "spec"))
_SUPERVISOR = _has({"detailedState": _text}, id=_text, state=_text)
_COMPACTION = _has(dataSource=_text)
_RULES = _each(_has(type=_text))
_LOOKUP = _has({"version": _text}, lookupExtractorFactory=_MAPPING)
_SEGMENT = _has({"size": _number}, identifier=_segment_id, interval=_interval, version=_text)
# Nothing: up to Druid 31, if no server has loaded a segment of the datasource.
_MARKED = _either(_nothing, _has(numChangedSegments=_number))
_LOADED = _has({"current": _MAPPING, "toLoad": _MAPPING, "toDrop": _each(_text)})
# POST of a configuration: empty, for compaction since Druid 33 with a field.
_WRITTEN = _either(_nothing, _has(success=_flag))
# Of a configuration whose fields are all optional: not an error of a gateway.
_CONFIG = _either(_nothing, lambda document: _MAPPING(document) and not _has_one_of("error", "message")(document))

_CREDENTIALS = _has(salt=_text, hash=_text, iterations=_number)
_PERMISSION = _has(action=_text, resource=_has(name=_text, type=_text))

_SECURITY = "/druid-ext/basic-security"
_OVERLORD, _COORDINATOR = "/druid/indexer/v1", "/druid/coordinator/v1"
_COMPACTION_PATHS = rf"(?:{_OVERLORD}/compaction/config/datasources|{_COORDINATOR}/config/compaction)"


class _Form(NamedTuple):
    """The form of the responses to a request."""

    request: re.Pattern[str]
    check: _Check
    is_distinctive: _Check


def _form(request: str, check: _Check, is_distinctive: _Check = _not_empty) -> _Form:
    """Return the form of the responses to a request; ``*`` is any segment of its path."""
    return _Form(re.compile(request.replace("/*", "/[^/?]+")), check, is_distinctive)


_FORMS = (
    _form(r"GET /status", _both(_has_one_of("version"), _has({"version": _version}))),
    _form(r"GET /druid/\w+/v1/isLeader", _has(leader=_flag)),
    # Supervisors.
    _form(rf"GET {_OVERLORD}/supervisor", _each(_text)),
    _form(rf"GET {_OVERLORD}/supervisor\?full=.*", _each(_has(id=_text, spec=_SPEC))),
    _form(rf"GET {_OVERLORD}/supervisor\?state=.*", _each(_SUPERVISOR)),
    _form(rf"GET {_OVERLORD}/supervisor/*", _SPEC),
    _form(rf"GET {_OVERLORD}/supervisor/*/status", _has({"payload": _SUPERVISOR_STATUS}, id=_text)),
    _form(rf"GET {_OVERLORD}/supervisor/*/history(?:\?.*)?", _each(_has({"spec": _MAPPING}, version=_text))),
    _form(rf"POST {_OVERLORD}/supervisor(?:/*/(?:terminate|reset|resetOffsets))?(?:\?.*)?", _has(id=_text)),
    _form(rf"POST {_OVERLORD}/supervisor/*/(?:suspend|resume)", _has_one_of("type", "id")),
    _form(rf"POST {_OVERLORD}/supervisor/*/taskGroups/handoff", _nothing),
    # Tasks.
    _form(rf"GET {_OVERLORD}/(?:tasks|runningTasks)(?:\?.*)?", _each(_TASK)),
    _form(rf"GET {_OVERLORD}/task/*/status", _has(status=_TASK)),
    _form(rf"GET {_OVERLORD}/task/*/reports", _either(_nothing, _values(_has({"payload": _REPORT})))),
    _form(rf"GET {_OVERLORD}/task/*", _has(payload=_MAPPING)),
    _form(rf"POST {_OVERLORD}/task(?:/*/shutdown)?", _has(task=_text)),
    _form(r"POST /druid/v2/sql/task", _has(taskId=_text)),
    _form(r"POST /druid/v2/sql", _each(_MAPPING)),
    # Configurations.
    _form(rf"GET {_COMPACTION_PATHS}", _has(compactionConfigs=_either(_nothing, _each(_COMPACTION)))),
    _form(rf"GET {_COMPACTION_PATHS}/*", _COMPACTION),
    _form(rf"GET {_OVERLORD}/compaction/config/cluster", _has(compactionTaskSlotRatio=_number)),
    _form(rf"GET {_OVERLORD}/compaction/isSupervisorEnabled", _flag),
    _form(
        rf"GET (?:{_OVERLORD}/compaction/status/datasources|{_COORDINATOR}/compaction/status)",
        _either(_nothing, _has(latestStatus=_either(_nothing, _each(_COMPACTION)))),
    ),
    _form(rf"(?:POST|DELETE) (?:{_OVERLORD}/compaction/config|{_COORDINATOR}/config/compaction).*", _WRITTEN),
    _form(rf"GET {_COORDINATOR}/rules", lambda document: document != {} and _values(_RULES)(document)),
    _form(rf"GET {_COORDINATOR}/rules/*", _RULES),
    _form(rf"POST {_COORDINATOR}/rules/*", _nothing),
    _form(
        rf"GET {_COORDINATOR}/config", _has_one_of("maxSegmentsToMove", "decommissioningNodes", "smartSegmentLoading")
    ),
    _form(
        rf"GET (?:{_COORDINATOR}/(?:(?:broker/)?config|rules/*)|{_OVERLORD}/(?:worker|k8s/taskrunner/executionconfig))"
        r"/history.*",
        _each(_MAPPING),
    ),
    _form(
        rf"GET (?:{_OVERLORD}/(?:worker|k8s/taskrunner/executionconfig)|{_COORDINATOR}/broker/config)",
        _CONFIG,
        _has_one_of("selectStrategy", "podTemplateSelectStrategy", "queryContext"),
    ),
    _form(
        rf"POST (?:{_COORDINATOR}/(?:broker/)?config|{_OVERLORD}/(?:worker|k8s/taskrunner/executionconfig))", _WRITTEN
    ),
    # Basic security.
    _form(rf"GET {_SECURITY}/\w+/loadStatus", _values(_flag)),
    _form(rf"GET {_SECURITY}/\w+/db/*/\w+", _each(_text)),
    _form(rf"GET {_SECURITY}/authentication/db/*/users/*", _has({"credentials": _CREDENTIALS}, name=_text)),
    _form(rf"GET {_SECURITY}/authorization/db/*/users/*", _has(name=_text, roles=_each(_text))),
    _form(
        rf"GET {_SECURITY}/authorization/db/*/roles/*\?.*",
        _has({"users": _each(_text), "groupMappings": _each(_text)}, name=_text, permissions=_each(_PERMISSION)),
    ),
    _form(
        rf"GET {_SECURITY}/authorization/db/*/groupMappings/*",
        _has(name=_text, groupPattern=_text, roles=_each(_text)),
    ),
    _form(rf"(?:POST|DELETE) {_SECURITY}/.*", _nothing),
    # Lookups.
    _form(rf"GET {_COORDINATOR}/lookups/config", _each(_text)),
    _form(rf"GET {_COORDINATOR}/lookups/config/all", _values(_values(_LOOKUP))),
    _form(rf"GET {_COORDINATOR}/lookups/config/*/*", _LOOKUP),
    _form(rf"GET {_COORDINATOR}/lookups/nodeStatus\?.*", _values(_values(_LOADED))),
    _form(rf"POST {_COORDINATOR}/lookups/config", _MAPPING),
    _form(rf"(?:POST|DELETE) {_COORDINATOR}/lookups/config/*/*", _nothing),
    # Segments.
    _form(rf"GET {_COORDINATOR}/metadata/datasources(?:\?.*)?", _each(_text)),
    _form(rf"POST {_COORDINATOR}/metadata/datasources/*/segments", _each(_segment_id)),
    _form(
        rf"GET {_COORDINATOR}/metadata/datasources/*/unusedSegments\?.*",
        _each(_either(_has(dataSegment=_SEGMENT), _SEGMENT)),
    ),
    _form(rf"(?:POST|DELETE) (?:{_OVERLORD}|{_COORDINATOR})/datasources/*(?:/mark\w+)?", _MARKED),
    # Servers.
    _form(r"GET /druid/\w+/v1/leader", _either(_nothing, _address)),
    _form(rf"GET {_COORDINATOR}/cluster", _values(_each(_has(host=_text)))),
    _form(rf"GET {_COORDINATOR}/servers\?simple=.*", _each(_has(host=_text, type=_text))),
    _form(rf"GET {_COORDINATOR}/loadqueue\?simple=.*", _values(_MAPPING)),
    _form(rf"GET {_COORDINATOR}/loadstatus\?simple=.*", _values(_number)),
    _form(rf"GET {_COORDINATOR}/loadstatus\?full=.*", _values(_values(_number))),
    _form(rf"GET {_OVERLORD}/workers", _each(_has(worker=_MAPPING))),
    _form(rf"POST {_OVERLORD}/worker/*/(?:enable|disable)", _values(_text)),
)
