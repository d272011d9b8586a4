# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets are masked in every output: diff, plan, events, conditions and findings."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import MASK
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import events, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import MAX_MESSAGE_CHARACTERS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import StepResult
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils._secrets.test_masking import (
    ALONE,
    SECRET,
    with_secret,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._kubernetes.test_secrets import IN_MANIFESTS

Manifest = dict[str, Any]

OTHER = "another-one"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def with_value(value: Any, secret: str) -> Manifest:
    """Return an object that contains the secret."""
    whole = with_secret(value, secret)
    metadata = {"name": "n", "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": [whole]}}


def steps(value: Any) -> list[Step]:
    before, after = with_value(value, SECRET), with_value(value, OTHER)
    return [
        Apply(manifest=after),
        Apply(manifest=after, live=stored(before), after=stored(after)),
        Apply(manifest=after, live=stored({**after, "data": {}}), after=stored(after)),
        Delete(live=stored(before)),
    ]


@pytest.mark.parametrize("value", IN_MANIFESTS)
def test_diff_and_lines(value: Any) -> None:
    output = repr((plan_output.diff(Plan(tuple(steps(value)))), plan_output.lines(Plan(tuple(steps(value))))))
    assert SECRET not in output
    assert OTHER not in output


@pytest.mark.parametrize("value", IN_MANIFESTS)
def test_events(value: Any) -> None:
    output = repr(events.done_texts([StepResult(step) for step in steps(value)]))
    assert SECRET not in output
    assert OTHER not in output


class NoTransport:
    """A transport that fails for each request."""

    def request(self, method: str, url: str, **_arguments: Any) -> Any:
        raise AssertionError((method, url))


@pytest.mark.parametrize("value", ALONE)
def test_conditions_and_findings(value: Any) -> None:
    resource = druid.resource()
    del resource["metadata"]["uid"]
    resource["spec"]["x"] = [with_secret(value, SECRET)]
    observed = Observed().with_objects([with_value(value, OTHER)])
    finding = Finding("RejectedByAPIServer", f"Invalid value: {SECRET!r}, {OTHER!r}")
    result = StepResult(steps(value)[0], error=f"It said {SECRET} and {OTHER}.")
    cluster = Cluster.from_resource(resource)
    api = KubernetesApi("https://192.0.2.1", NoTransport(), warnings=[f"It warned of {SECRET}."])
    reported = DRUID.report(
        api, ClusterResult(resource, cluster, observed, Plan((), (finding,)), (result,)), False, NOW
    )
    output = repr((reported.status, reported.plan, reported.warnings, reported.problems))
    assert SECRET not in output
    assert OTHER not in output
    assert "********" in output


def test_what_kubernetes_reports_about_pods_is_masked() -> None:
    """The end of a log, and an admission policy that quotes the pod."""
    resource = druid.resource({"env": [{"name": "DB_PASSWORD", "value": SECRET}], "replicas": 2})
    del resource["metadata"]["uid"]
    cluster = Cluster.from_resource(resource)
    ended = {"terminated": {"exitCode": 1, "message": f"cannot connect with {SECRET}"}}
    pod = rolling.pod("brokers", 0, waiting="CrashLoopBackOff", container={"lastState": ended})
    [workload] = [each for each in render(cluster).objects if each["kind"] == "StatefulSet"]
    live = {**stored(workload), "status": {"observedGeneration": 1}}
    rejected = {"reason": "FailedCreate", "message": f"create Pod druid-c-brokers-1 in it failed error: env {SECRET}"}
    rejected |= {"kind": "Event", "metadata": {"name": "e"}, "involvedObject": {"uid": live["metadata"]["uid"]}}
    observed = Observed().with_objects([pod, live, rejected])
    api = KubernetesApi("https://192.0.2.1", NoTransport())
    reported = DRUID.report(api, ClusterResult(resource, cluster, observed, Plan()), False, NOW)
    assert SECRET not in repr(reported.status)
    [message] = [each["message"] for each in reported.status["conditions"] if each["type"] == "Degraded"]
    assert message.count(MASK) == 2


def test_secrets_of_references_are_masked() -> None:
    resource = druid.resource()
    del resource["metadata"]["uid"]
    secret = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"any": base64.b64encode(SECRET.encode()).decode()}}
    common = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"x.properties": f"druid.zk.service.pwd={OTHER}"}}
    references = {ReferenceKey("Secret", "ns", "s"): secret, ReferenceKey("ConfigMap", "ns", "c"): common}
    observed = Observed(references={**references, ReferenceKey("ConfigMap", "ns", "gone"): None})
    finding = Finding("RejectedByAPIServer", f"Invalid value: {SECRET!r}, {OTHER!r}")
    api = KubernetesApi("https://192.0.2.1", NoTransport())
    reported = DRUID.report(
        api,
        ClusterResult(resource, Cluster.from_resource(resource), observed, Plan((), (finding,))),
        False,
        NOW,
    )
    assert reported.problems == (Finding("RejectedByAPIServer", f"Invalid value: '{MASK}', '{MASK}'"),)


def test_masked_message_is_stable_in_the_next_reconcile() -> None:
    resource = druid.resource()
    del resource["metadata"]["uid"]
    finding = Finding("SecretNotFound", "spec.auth.secretRef: there is no Secret login in namespace ns. Create it.")
    for _reconcile in range(2):
        result = ClusterResult(resource, Cluster.from_resource(resource), Observed(), Plan((), (finding,)))
        reported = DRUID.report(KubernetesApi("https://192.0.2.1", NoTransport()), result, False, NOW)
        assert reported.problems == (finding,)
        resource["status"] = reported.status


@pytest.mark.parametrize("start", range(MAX_MESSAGE_CHARACTERS - 126, MAX_MESSAGE_CHARACTERS + 14, 3))
def test_no_part_of_a_secret_is_left_at_the_end_of_a_long_message(start: int) -> None:
    secret = "0123456789abcdef-of-mine"
    resource = {**druid.resource(), "metadata": {"name": "c", "namespace": "ns"}}
    resource["spec"] = {"env": [{"name": "PASSWORD", "value": secret}]}
    finding = Finding("ApplyFailed", f"{'-' * start}{secret}{'-' * 200}")
    result = ClusterResult(resource, Cluster.from_resource(resource), Observed(), Plan((), (finding,)))
    report = DRUID.report(KubernetesApi("https://192.0.2.1", NoTransport()), result, True, NOW)
    messages = [each["message"] for each in report.status["conditions"]]
    assert max(map(len, messages)) == MAX_MESSAGE_CHARACTERS
    assert not [each for each in messages if "0" in each.partition("-" * 9)[2]]
