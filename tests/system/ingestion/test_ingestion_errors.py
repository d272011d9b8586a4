# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A problem of an ingestion is reported in its conditions without secrets, and is resolved with its cause."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http import time_limit
from ansible_collections.druidops.druid.plugins.module_utils._http.time_limit import TimeLimit
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import ARGUMENTS, Options, to_options
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import request
from ansible_collections.druidops.druid.tests.system.support.certificates import PERMITTED
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import (
    KIND,
    Ingesting,
    done,
    ingesting,
)
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.nesting import nested
from testbed.druid.druid import Druid
from testbed.proxy import Answer, Forward, Loss, Request
from testbed.recording_proxy import SERVER_ERROR_PAGE, UNAVAILABLE

DEFAULTS = {name: option.get("default") for name, option in {**request.ARGUMENTS, **ARGUMENTS}.items()}
CANARY = "hunter2-the-canary"
# Seconds: later responses are not awaited.
ONE_TRY = Options(timeouts=Timeouts(retry_timeout=0))
# Seconds: later responses are not awaited.
SHORT_TIMEOUT = Options(timeouts=Timeouts(read_timeout=1, retry_timeout=0))
FORBIDDEN = Answer(403, (("Content-Type", "application/json"),), b'{"Access-Check-Result":"no"}')
LOGIN_PAGE = Answer(200, (("Content-Type", "text/html"),), b"<html><title>Log in</title></html>")


@pytest.fixture
def ingestion(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        yield started


@pytest.mark.parametrize(
    ("reaction", "reason"),
    [
        (UNAVAILABLE, "DruidUnreachable"),
        (SERVER_ERROR_PAGE, "DruidUnreachable"),
        (LOGIN_PAGE, "DruidUnreachable"),
        (Loss.HUNG, "DruidUnreachable"),
        (Loss.CUT, "DruidUnreachable"),
        (FORBIDDEN, "Unauthorized"),
    ],
    ids=["503", "500 with a page", "a login page", "no answer", "cut off", "403"],
)
def test_unexpected_responses_of_druid(ingestion: Ingesting, reaction: Any, reason: str) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    ingestion.proxy.fail_next(reaction, path="/supervisor")
    outcome = ingestion.one_pass(settings=SHORT_TIMEOUT if reaction is Loss.HUNG else ONE_TRY)
    assert (done(outcome), ingestion.condition("Ready")) == ((), ("False", reason))
    assert ingestion.condition("Degraded") == ("True", reason)
    ingestion.settled()
    assert ingestion.condition("Degraded") == ("False", "AsExpected")


def of_one_run() -> Options:
    """Return the options of one run of an operator with a shorter time limit."""
    operators = to_options({**DEFAULTS, "operator": True}, False, Meter())
    assert operators.timeouts.of_run is not None
    return replace(operators, timeouts=replace(operators.timeouts, of_run=TimeLimit(3)))


def accepted(request: Request, forward: Forward) -> Loss:
    """Have Druid execute the request, and do not respond."""
    forward(request)
    return Loss.HUNG


@pytest.mark.parametrize("reaction", [Loss.HUNG, accepted], ids=["lost", "executed"])
def test_abandoned_request_is_not_repeated(
    reaction: Any, ingestion: Ingesting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run in the operator ends, with a record: the next ones wait for Druid to show the result, or for some time."""
    monkeypatch.setattr(time_limit, "WRITE_SECONDS", 2.0)
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    ingestion.proxy.fail_next(reaction, method="POST", path="/supervisor")
    ingestion.one_pass(settings=of_one_run())
    assert ingestion.condition("Ready") == ("False", "DruidUnreachable")
    assert "s of one reconcile in the operator" in ingestion.stored["status"]["message"]

    for _run in range(2):
        ingestion.one_pass(settings=of_one_run())
        assert ingestion.writes == []
    if reaction is accepted:
        assert ingestion.condition("Ready") == ("True", "Suspended")
    else:
        assert "has not answered the request to create supervisor" in ingestion.stored["status"]["message"]
        monkeypatch.setattr(decide, "REPEAT_AFTER", timedelta())
    ingestion.settled()
    assert ingestion.times_submitted("kafka") == 1
    [record] = [each for each in ingestion.live.list("ConfigMap") if ingestion.name in each["metadata"]["name"]]
    assert "abandoned" not in record["data"]["state.json"]


def test_silent_druid_ends_a_run(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    ingestion.proxy.fail_next(Loss.HUNG, method="GET", path="/supervisor")
    ingestion.one_pass(settings=of_one_run())
    assert ingestion.condition("Ready") == ("False", "DruidUnreachable")
    assert (ingestion.writes, ingestion.stored["metadata"].get("finalizers")) == ([], None)


def test_unreachable_server(ingestion: Ingesting) -> None:
    # an unknown host name is not retried
    for url, settings in (("http://127.0.0.1:1", ONE_TRY), ("http://no-such-host.invalid:8888", Options())):
        resource = ingestion.resource("kafka", kafka_spec(ingestion))
        resource["metadata"]["name"] = name = f"{ingestion.name}-{len(url)}"
        resource["spec"]["endpoint"]["url"] = url
        ingestion.live.create(resource)
        outcome = ingestion.one_pass(name=name, settings=settings)
        assert outcome.report is not None
        [problem] = outcome.report.plan.problems
        assert (problem.reason, url in problem.message) == ("DruidUnreachable", True)
        assert "else spec.endpoint.url" in problem.message


@pytest.mark.parametrize("password", ["wrong", "right"])
def test_druid_requires_authentication(live: NamespaceClient, druid_basic: Druid, password: str) -> None:
    login = druid_basic.credentials
    assert login is not None
    with ingesting(live, druid_basic) as ingestion:
        data = {
            "OperatorUserName": login.username,
            "OperatorPassword": login.password if password == "right" else CANARY,
        }
        live.create({"kind": "Secret", "metadata": {"name": "login"}, "stringData": data})
        auth = {"type": "basic-auth", "secretRef": {"name": "login"}}
        # nothing of it is ever accepted: this is what the test is about
        live.create(ingestion.resource("scheduled-batch", {"id": ingestion.name, "spec": {}}, auth=auth))
        # its owner has to permit it
        ingestion.one_pass(settings=ONE_TRY)
        assert ingestion.condition("Ready") == ("False", "RefNotPermitted")
        assert ingestion.proxy.exchanges == []
        live.merge("Secret", "login", {"metadata": {"annotations": PERMITTED}})
        ingestion.one_pass(settings=ONE_TRY)
        expected = {"wrong": "Unauthorized", "right": "RejectedByDruid"}[password]
        assert ingestion.condition("Ready") == ("False", expected)
        assert_silent(ingestion, CANARY, login.password)


def test_required_objects_are_missing(ingestion: Ingesting) -> None:
    auth = {"type": "basic-auth", "secretRef": {"name": "login"}}
    resource = ingestion.resource("kafka", kafka_spec(ingestion), auth=auth)
    ingestion.live.create(resource)
    ingestion.one_pass()
    assert ingestion.condition("Ready") == ("False", "SecretNotFound")

    foreign = {**auth, "secretRef": {"name": "login", "namespace": "default"}}
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"auth": foreign}})
    ingestion.one_pass()
    assert ingestion.condition("Ready") == ("False", "RefNotPermitted")

    spec = {"auth": None, "druidCluster": "nowhere", "endpoint": None}
    ingestion.live.merge(KIND, ingestion.name, {"spec": spec})
    ingestion.one_pass()
    assert ingestion.condition("Ready") == ("False", "ClusterNotFound")
    # and it does not hang: nothing was ever sent to Druid
    ingestion.one_pass(absent=True)
    assert ingestion.live.find(KIND, ingestion.name) is None


def test_a_specification_whose_record_does_not_fit_is_not_applied(ingestion: Ingesting) -> None:
    """A ConfigMap has at most 1 MiB, which a resource may exceed."""
    spec = kafka_spec(ingestion)
    spec["spec"]["dataSchema"]["dimensionsSpec"] = {"dimensions": [f"{number:0100}" for number in range(10_500)]}
    ingestion.live.create(ingestion.resource("kafka", spec, suspend=True))
    [problem] = ingestion.one_pass().problems
    assert (problem.reason, "can have 1,032,192" in problem.message) == ("InvalidSpec", True)
    assert (ingestion.writes, ingestion.condition("Ready")) == ([], ("False", "InvalidSpec"))
    assert ingestion.live.find("ConfigMap", f"{ingestion.name}-ingestion") is None


def test_specification_nested_too_deeply(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("kafka", nested(450)))
    ingestion.one_pass()
    found = condition(ingestion.stored, "Ready")
    assert (found["reason"], "it is nested too deeply (more than 100 levels)" in found["message"]) == (
        "InvalidSpec",
        True,
    )
    ingestion.one_pass(absent=True)
    assert ingestion.live.find(KIND, ingestion.name) is None


def test_rejection_by_druid_is_reported_without_secrets(ingestion: Ingesting) -> None:
    broken = kafka_spec(ingestion, taskDuration=f"password={CANARY}")
    broken["spec"]["ioConfig"]["consumerProperties"]["sasl.jaas.config"] = f'login required password="{CANARY}";'
    ingestion.live.create(ingestion.resource("kafka", broken))
    outcome = ingestion.one_pass()
    assert ingestion.condition("Ready") == ("False", "RejectedByDruid")
    assert_silent(ingestion, CANARY)
    assert CANARY not in str(INGESTION.diff(outcome.plan))


def test_resource_is_deleted_while_druid_is_unavailable(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    ingestion.settled()
    ingestion.live.delete(KIND, ingestion.name)
    ingestion.proxy.fail_next(UNAVAILABLE, path="/terminate")
    ingestion.one_pass(settings=ONE_TRY)
    stored = ingestion.stored
    assert ingestion.condition("Ready") == ("False", "DruidUnreachable")
    assert "set deletionPolicy Retain" in stored["status"]["message"]
    ingestion.one_pass()
    assert ingestion.live.find(KIND, ingestion.name) is None
    assert ingestion.name not in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")


# A gateway that has no route to Druid.
GATEWAY = (
    Answer(404, (("Content-Type", "text/plain"),), b"no such route"),
    Answer(404, (("Content-Type", "application/json"),), b'{"error": "no such route"}'),
    Answer(404, (), b""),
    Answer(200, (("Content-Type", "application/json"),), b"{}"),
    Answer(200, (("Content-Type", "application/json"),), b"[]"),
)


def test_resource_is_not_deleted_because_a_gateway_has_no_route_to_druid(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    ingestion.settled()
    ingestion.live.delete(KIND, ingestion.name)
    for answer in GATEWAY:
        for _request in range(20):
            ingestion.proxy.fail_next(answer)
        ingestion.one_pass(settings=ONE_TRY)
        assert ingestion.condition("Ready") == ("False", "DruidUnreachable"), answer
        assert "no such route" not in ingestion.stored["status"]["message"]
        ingestion.proxy.clear()
    assert ingestion.name in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")
    ingestion.one_pass()
    assert ingestion.live.find(KIND, ingestion.name) is None
    assert ingestion.name not in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")


def test_deletion_waits_for_fixable_problems(ingestion: Ingesting) -> None:
    """A password that is missing in its Secret can be added; a deleted Secret is not awaited."""
    data = {"OperatorUserName": "u", "OperatorPassword": "p"}
    metadata = {"name": "login", "annotations": PERMITTED}
    ingestion.live.create({"kind": "Secret", "metadata": metadata, "stringData": data})
    auth = {"type": "basic-auth", "secretRef": {"name": "login"}}
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True, auth=auth))
    ingestion.settled()
    ingestion.live.delete(KIND, ingestion.name)
    ingestion.live.merge("Secret", "login", {"data": {"OperatorPassword": None}})
    ingestion.one_pass()
    assert ingestion.condition("Ready") == ("False", "SecretNotFound")
    assert "set deletionPolicy Retain" in ingestion.stored["status"]["message"]
    foreign = {**auth, "secretRef": {"name": "login", "namespace": "default"}}
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"auth": foreign}})
    ingestion.one_pass()
    assert ingestion.condition("Ready") == ("False", "RefNotPermitted")
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"auth": {**foreign, "secretRef": {"namespace": None}}}})
    ingestion.live.delete("Secret", "login")
    [warning] = ingestion.one_pass().warnings
    assert f"there is no Secret login in namespace {ingestion.live.namespace}" in warning
    assert ingestion.live.find(KIND, ingestion.name) is None


def test_retained_supervisor_keeps_running(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True, deletionPolicy="Retain"))
    ingestion.settled()
    ingestion.one_pass(absent=True)
    assert ingestion.live.find(KIND, ingestion.name) is None
    assert ingestion.name in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")


def assert_silent(ingestion: Ingesting, *canaries: str) -> None:
    """No secret is in the status, in an event, or in a ConfigMap other than the record of the specification."""
    messages = [ingestion.stored["status"], ingestion.live.list("Event")]
    for canary in canaries:
        assert canary not in json.dumps(messages)


def test_a_spec_that_its_record_cannot_hold_is_not_sent(ingestion: Ingesting) -> None:
    """Applied without a record, it would fail in every reconcile, and a deletion would not know what to terminate."""
    ingestion.kafka.make_topic(ingestion.name)
    spec = {**kafka_spec(ingestion), "context": {"note": "a" * 1_100_000}}
    ingestion.live.create(ingestion.resource("kafka", spec))

    outcomes = [ingestion.one_pass(check_mode=True), ingestion.one_pass()]

    assert ingestion.writes == []
    assert ingestion.condition("Ready") == ("False", "InvalidSpec")
    assert all("can have 1,032,192. Nothing is sent to Druid." in str(each.problems) for each in outcomes)

    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": {"context": None}}}})
    ingestion.change(suspend=True)
    assert ingestion.condition("Ready") == ("True", "Suspended")
