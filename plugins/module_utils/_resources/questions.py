# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The questions about Druid, and their answers as values. Pure.

A server or a worker is identified by ``host:port``, as Druid announces it (druid.host and its port).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar, cast

T = TypeVar("T")

# Why there is no answer. There is no router, or how to connect to it is not specified.
NO_ROUTER = "no router"
# The router is known not to be ready.
NOT_READY = "router not ready"
# Druid did not respond, or responded that it cannot answer now.
UNREACHABLE = "unreachable"
# It cannot be reached from here: its name does not resolve, or its certificate is not trusted.
NOT_CONNECTABLE = "not connectable"
# The user may not ask that, or there is none.
UNAUTHORIZED = "not authorized"
# This Druid has no such API: it is too old, or its Router does not forward to Coordinators and Overlords.
UNSUPPORTED = "not supported"
# The answer cannot be read.
INVALID = "invalid answer"
# Those that last until Druid, or the connection to it, is changed.
LASTING = frozenset({NO_ROUTER, NOT_CONNECTABLE, UNAUTHORIZED, UNSUPPORTED, INVALID})


@dataclass(frozen=True)
class Unavailable:
    """Why there is no answer: one of the causes above, and a message for the user, which has no secrets."""

    cause: str
    message: str


@dataclass(frozen=True)
class Question(Generic[T]):
    """A GET of a path, or, with `sql`, a query that a Broker answers.

    `read` returns the answer from the JSON document; it raises a LookupError, TypeError or ValueError for an invalid
    one. Its argument is None if Druid responded that it has no such object.
    """

    name: str
    path: str
    read: Callable[[Any], T] = field(compare=False)
    params: tuple[tuple[str, str], ...] = ()
    sql: str = ""


@dataclass(frozen=True)
class DruidState:
    """The answer to each question that was asked, or why there is none."""

    answers: Mapping[Question[Any], Any] = field(default_factory=dict)

    def answer(self, question: Question[T]) -> T | Unavailable:
        """Return the answer to a question that was asked; KeyError for any other."""
        return cast("T | Unavailable", self.answers[question])

    def missing_answers(self, questions: Iterable[Question[Any]]) -> tuple[Question[Any], ...]:
        """Return those of the questions that were not asked."""
        return tuple(question for question in questions if question not in self.answers)

    def with_answers(self, answers: Mapping[Question[Any], Any]) -> DruidState:
        """Return the same with more answers."""
        return DruidState({**self.answers, **answers})


_COORDINATOR, _OVERLORD, _SQL = "/druid/coordinator/v1", "/druid/indexer/v1", "/druid/v2/sql"
_SIMPLE = (("simple", "true"),)
# The version of a disabled worker.
_DISABLED = ""


class Server(NamedTuple):
    """A server that has segments, as the Coordinator knows it. The sizes are in bytes."""

    name: str
    type: str
    tier: str
    size: int
    max_size: int


class LoadQueue(NamedTuple):
    """The numbers of segments that a server has yet to load, and to drop."""

    to_load: int
    to_drop: int


class Rule(NamedTuple):
    """The replicas that a load rule of a datasource requires in a tier; None: on each server, of any tier."""

    datasource: str
    tier: str | None
    replicas: int | None


class Worker(NamedTuple):
    """A MiddleManager or an Indexer, and the ids of its running tasks."""

    name: str
    is_enabled: bool
    capacity: int
    running_tasks: tuple[str, ...]


class Task(NamedTuple):
    """A running task; `host` and `port` are its own, None if they are not known yet. The host is that of its worker."""

    id: str
    type: str
    datasource: str
    host: str | None
    port: int | None


class Supervisor(NamedTuple):
    """A supervisor: PENDING, RUNNING, ..., and in detail, such as CONNECTING_TO_STREAM."""

    id: str
    state: str
    detailed_state: str
    is_healthy: bool
    is_suspended: bool


class Incomplete(NamedTuple):
    """A number of segments that have fewer replicas than their load rules require."""

    replicas: int
    required: int
    number: int


class SegmentCounts(NamedTuple):
    """Published segments of a datasource, as a Broker knows them: those that no server has, and incomplete ones."""

    unavailable: int = 0
    incomplete: tuple[Incomplete, ...] = ()

    def missing_replicas(self, historicals: int) -> int:
        """Return how many replicas so many Historicals could load, and have not: each has a segment only once."""
        return sum(each.number * max(0, min(each.required, historicals) - each.replicas) for each in self.incomplete)


class Replicated(NamedTuple):
    """Bytes of a server's segments: those that a Broker knows, and the user may read; those that others have, too."""

    known: int
    replicated: int


class Alone(NamedTuple):
    """Bytes of a server's segments that a Broker knows, and the user may read; by datasource, how many it has alone."""

    known: int
    number: Mapping[str, int]


def _servers(document: Any) -> tuple[Server, ...]:
    return tuple(
        Server(str(each["host"]), str(each["type"]), str(each["tier"]), int(each["currSize"]), int(each["maxSize"]))
        for each in document
    )


def _load_queues(document: Any) -> Mapping[str, LoadQueue]:
    return {
        str(name): LoadQueue(int(queue["segmentsToLoad"]), int(queue["segmentsToDrop"]))
        for name, queue in _mapping(document).items()
    }


def _rules(document: Any) -> tuple[Rule, ...]:
    return tuple(
        Rule(str(datasource), *found)
        for datasource, rules in _mapping(document).items()
        for rule in rules
        for found in _replicas(rule)
    )


def _replicas(rule: Any) -> list[tuple[str | None, int | None]]:
    if str(rule["type"]).startswith("broadcast"):
        return [(None, None)]
    return [(str(tier), int(number)) for tier, number in (rule.get("tieredReplicants") or {}).items()]


def _replicated(document: Any) -> Replicated:
    # No row, or null, if there is no segment.
    return Replicated(*(sum(int(row[name] or 0) for row in document) for name in Replicated._fields))


def _alone(document: Any) -> Alone:
    numbers = {str(row["datasource"]): int(row["number"]) for row in document}
    return Alone(sum(int(row["known"]) for row in document), {name: each for name, each in numbers.items() if each})


def _datasources(document: Any) -> frozenset[str]:
    return frozenset(str(row["datasource"]) for row in document)


def _numbers(document: Any) -> Mapping[str, int]:
    return {str(name): int(number) for name, number in _mapping(document).items()}


def _has_leader(document: Any) -> bool:
    return document is not None and _mapping(document)["leader"] is True


def _workers(document: Any) -> tuple[Worker, ...]:
    return tuple(_worker(each) for each in document)


def _worker(document: Any) -> Worker:
    worker = document["worker"]
    tasks = tuple(sorted(map(str, document.get("runningTasks") or ())))
    return Worker(str(worker["host"]), worker["version"] != _DISABLED, int(worker["capacity"]), tasks)


def _tasks(document: Any) -> tuple[Task, ...]:
    return tuple(_task(each) for each in document)


def _task(document: Any) -> Task:
    location = document.get("location") or {}
    port = max(location.get("tlsPort", -1), location.get("port", -1))
    host = location.get("host")
    is_known = bool(host) and port > 0
    datasource = str(document.get("dataSource", ""))
    return Task(str(document["id"]), str(document["type"]), datasource, *((host, port) if is_known else (None, None)))


def _supervisors(document: Any) -> tuple[Supervisor, ...]:
    return tuple(
        Supervisor(
            str(each["id"]),
            str(each["state"]),
            str(each.get("detailedState") or each["state"]),
            bool(each.get("healthy")),
            bool(each.get("suspended")),
        )
        for each in document
    )


def _segment_counts(document: Any) -> Mapping[str, SegmentCounts]:
    found: dict[str, SegmentCounts] = {}
    for row in document:
        name, group = str(row["datasource"]), Incomplete(*(int(row[column]) for column in Incomplete._fields))
        unavailable, incomplete = found.get(name, SegmentCounts())
        added = (group,) if group.required > group.replicas else ()
        found[name] = SegmentCounts(unavailable + int(row["unavailable"]), (*incomplete, *added))
    return found


def _mapping(document: Any) -> Mapping[str, Any]:
    if not isinstance(document, Mapping):
        raise TypeError(document)
    return document


# replication_factor is -1 as long as it is not known.
_SEGMENTS_SQL = """
SELECT datasource, num_replicas AS replicas, replication_factor AS required, COUNT(*) AS "number",
  SUM(CASE WHEN is_available = 0 AND replication_factor <> 0 THEN 1 ELSE 0 END) AS unavailable
FROM sys.segments WHERE is_published = 1 AND is_overshadowed = 0 GROUP BY 1, 2, 3
""".strip()

SERVERS = Question("servers", f"{_COORDINATOR}/servers", _servers, _SIMPLE)
LOAD_QUEUES = Question("load queues", f"{_COORDINATOR}/loadqueue", _load_queues, _SIMPLE)
# By datasource: the number of segments that are not loaded, as of the Coordinator's last run (druid.coordinator.period)
LOAD_STATUS = Question("load status", f"{_COORDINATOR}/loadstatus", _numbers, _SIMPLE)
# Of all datasources; those of _default apply to each.
RULES = Question("load rules", f"{_COORDINATOR}/rules", _rules)
COORDINATOR_CONFIG = Question("dynamic configuration of the Coordinator", f"{_COORDINATOR}/config", _mapping)
# Whether there is one: the Router forwards the question to it.
COORDINATOR_LEADER = Question("leader of the Coordinators", f"{_COORDINATOR}/isLeader", _has_leader)
OVERLORD_LEADER = Question("leader of the Overlords", f"{_OVERLORD}/isLeader", _has_leader)
WORKERS = Question("workers", f"{_OVERLORD}/workers", _workers)
RUNNING_TASKS = Question("running tasks", f"{_OVERLORD}/runningTasks", _tasks)
SUPERVISORS = Question("supervisors", f"{_OVERLORD}/supervisor", _supervisors, (("state", "true"),))
# By datasource, as one of the Brokers knows them now.
SEGMENTS = Question("segments", _SQL, _segment_counts, sql=_SEGMENTS_SQL)


# Of all datasources that the user may read, and whose segments a Broker knows.
VISIBLE = Question(
    "datasources", _SQL, _datasources, sql="SELECT datasource FROM sys.segments WHERE is_published = 1 GROUP BY 1"
)


def replicated_bytes(server: str, others: Iterable[str]) -> Question[Replicated]:
    """Return the question how many bytes of a server's segments each of the others has, too, as a Broker knows them."""
    of_others, own = ", ".join(map(_literal, sorted({*others}))), _literal(server)
    sql = f"""
SELECT SUM(s."size") AS known, SUM(CASE WHEN r.others = {len({*others})} THEN s."size" ELSE 0 END) AS replicated
FROM sys.segments AS s INNER JOIN (
  SELECT segment_id, SUM(CASE WHEN server = {own} THEN 1 ELSE 0 END) AS own,
    SUM(CASE WHEN server IN ({of_others}) THEN 1 ELSE 0 END) AS others
  FROM sys.server_segments WHERE server IN ({own}, {of_others}) GROUP BY segment_id
) AS r ON s.segment_id = r.segment_id WHERE r.own > 0
""".strip()
    return Question(f"replicas of the segments of {server}", _SQL, _replicated, sql=sql)


def segments_alone(server: str) -> Question[Alone]:
    """Return the question which segments of a server no other one has, as a Broker knows them."""
    sql = f"""
SELECT s.datasource, SUM(s."size") AS known,
  SUM(CASE WHEN s.num_replicas < 2 AND s.is_overshadowed = 0 THEN 1 ELSE 0 END) AS "number"
FROM sys.segments AS s INNER JOIN (
  SELECT segment_id FROM sys.server_segments WHERE server = {_literal(server)} GROUP BY segment_id
) AS r ON s.segment_id = r.segment_id GROUP BY 1
""".strip()
    return Question(f"segments of {server}", _SQL, _alone, sql=sql)


def _literal(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
