# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading of the audit log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.testbed.audit import Audit, AuditEvent, Mark


def line(**changes: Any) -> dict[str, Any]:
    """A line as kube-apiserver writes it at level Metadata."""
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "6d1a5f3c-2f0e-4a2b-9c1d-0a4e9d7a7c11",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/default/pods/web-0/status",
        "verb": "patch",
        "user": {"username": "druidops", "groups": ["system:masters", "system:authenticated"]},
        "sourceIPs": ["127.0.0.1"],
        "userAgent": "OpenAPI-Generator/37.0.0/python",
        "objectRef": {
            "resource": "pods",
            "namespace": "default",
            "name": "web-0",
            "apiVersion": "v1",
            "subresource": "status",
        },
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "1970-01-02T00:00:00.500000Z",
        **changes,
    }


def write(path: Path, *lines: dict[str, Any]) -> None:
    """Append lines to a log."""
    with path.open("a") as log:
        log.writelines(json.dumps(each) + "\n" for each in lines)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An empty audit log."""
    path = tmp_path / "audit.log"
    path.touch()
    return path


def test_mark_is_before_a_line_that_is_half_written(log: Path) -> None:
    write(log, line(verb="get"))
    whole = json.dumps(line(verb="create")) + "\n"
    log.write_text(log.read_text() + whole[:40])
    mark = Audit(log).mark()
    log.write_text(log.read_text() + whole[40:])
    assert [event.verb for event in Audit(log).since(mark)] == ["create"]


def test_event_has_the_fields_for_tests(log: Path) -> None:
    mark = Audit(log).mark()
    write(log, line())
    assert Audit(log).since(mark) == [
        AuditEvent(
            user="druidops",
            verb="patch",
            resource="pods",
            subresource="status",
            namespace="default",
            name="web-0",
            code=200,
            user_agent="OpenAPI-Generator/37.0.0/python",
            uri="/api/v1/namespaces/default/pods/web-0/status",
            dry_run=False,
            received=86400.5,
        )
    ]


def test_request_for_no_object_is_an_event(log: Path) -> None:
    bare = line(requestURI="/version", verb="get")
    del bare["objectRef"]
    write(log, bare)
    (event,) = Audit(log).since(Mark(0))
    assert (event.resource, event.name, event.uri) == ("", "", "/version")


@pytest.mark.parametrize(
    ("query", "dry_run"),
    [("", False), ("?dryRun=All", True), ("?fieldManager=x&dryRun=All", True), ("?labelSelector=dryRun%3DAll", False)],
)
def test_dry_run_is_detected_by_the_query(log: Path, query: str, dry_run: bool) -> None:
    mark = Audit(log).mark()
    write(log, line(requestURI=f"/api/v1/namespaces/default/pods{query}"))
    assert [event.dry_run for event in Audit(log).since(mark)] == [dry_run]


def test_only_requests_after_the_mark_and_of_the_user_count(log: Path) -> None:
    audit = Audit(log)
    write(log, line(verb="create"))
    mark = audit.mark()
    write(log, line(verb="get"), line(verb="list", user={"username": "person"}))
    assert [event.verb for event in audit.since(mark)] == ["get", "list"]
    assert [event.verb for event in audit.since(mark, "druidops")] == ["get"]


def test_watch_counts_once_when_it_opens(log: Path) -> None:
    audit = Audit(log)
    mark = audit.mark()
    write(log, line(verb="watch", stage="ResponseStarted"))
    opened = audit.mark()
    write(log, line(verb="watch", stage="ResponseComplete"))
    assert len(audit.since(mark)) == 1
    assert audit.since(opened) == []


def test_other_long_answer_counts_once_when_it_ends(log: Path) -> None:
    mark = Audit(log).mark()
    write(log, line(verb="get", stage="ResponseStarted"), line(verb="get"))
    assert len(Audit(log).since(mark)) == 1


def test_half_written_line_is_left_for_later(log: Path) -> None:
    audit = Audit(log)
    mark = audit.mark()
    text = json.dumps(line())
    log.write_text(text[:40])
    assert audit.since(mark) == []
    log.write_text(text + "\n")
    assert len(audit.since(mark)) == 1
