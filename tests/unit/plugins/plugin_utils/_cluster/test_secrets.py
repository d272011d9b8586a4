# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No secret survives on any of the ways on which words leave."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import MASK
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import events, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import Result
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import REPORTING, Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import report
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils._secrets.test_masking import (
    ALONE,
    SECRET,
    with_secret,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._kubernetes.test_masking import IN_MANIFESTS

Manifest = dict[str, Any]

OTHER = "another-one"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def holding(value: Any, secret: str) -> Manifest:
    """Return an object that has the secret in it."""
    whole = with_secret(value, secret)
    metadata = {"name": "n", "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": [whole]}}


def steps(value: Any) -> list[Step]:
    before, after = holding(value, SECRET), holding(value, OTHER)
    return [
        Step("create", after),
        Step("update", after, None, stored(before), stored(after)),
        Step("update", after, None, stored({**after, "data": {}}), stored(after)),
        Step("delete", stored(before), None, stored(before)),
    ]


@pytest.mark.parametrize("value", IN_MANIFESTS)
def test_diff_and_lines(value: Any) -> None:
    words = repr((plan_output.diff(Plan(tuple(steps(value)))), plan_output.lines(Plan(tuple(steps(value))))))
    assert SECRET not in words
    assert OTHER not in words


@pytest.mark.parametrize("value", IN_MANIFESTS)
def test_events(value: Any) -> None:
    words = repr(events.done_texts([Result(step) for step in steps(value)]))
    assert SECRET not in words
    assert OTHER not in words


class Silent:
    """A transport that nothing may be sent with."""

    def request(self, method: str, url: str, **_arguments: Any) -> Any:
        raise AssertionError((method, url))


@pytest.mark.parametrize("value", ALONE)
def test_conditions_and_findings(value: Any) -> None:
    resource = druid.resource()
    del resource["metadata"]["uid"]
    resource["spec"]["x"] = [with_secret(value, SECRET)]
    observed = Observed().with_objects([holding(value, OTHER)])
    finding = Finding("RejectedByAPIServer", f"Invalid value: {SECRET!r}, {OTHER!r}")
    result = Result(steps(value)[0], error=f"It said {SECRET} and {OTHER}.")
    cluster = Cluster.from_resource(resource)
    api = KubernetesApi("https://192.0.2.1", Silent(), warnings=[f"It warned of {SECRET}."])
    told = report(REPORTING, api, Reconciled(resource, cluster, observed, Plan((), (finding,)), (result,)), False, NOW)
    words = repr((told.status, told.plan, told.warnings, told.problems))
    assert SECRET not in words
    assert OTHER not in words
    assert "********" in words


def test_what_a_reference_holds_is_told_nobody() -> None:
    resource = druid.resource()
    del resource["metadata"]["uid"]
    held = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"any": base64.b64encode(SECRET.encode()).decode()}}
    common = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"x.properties": f"druid.zk.service.pwd={OTHER}"}}
    references = {ReferenceKey("Secret", "ns", "s"): held, ReferenceKey("ConfigMap", "ns", "c"): common}
    observed = Observed(references={**references, ReferenceKey("ConfigMap", "ns", "gone"): None})
    finding = Finding("RejectedByAPIServer", f"Invalid value: {SECRET!r}, {OTHER!r}")
    api = KubernetesApi("https://192.0.2.1", Silent())
    told = report(
        REPORTING,
        api,
        Reconciled(resource, Cluster.from_resource(resource), observed, Plan((), (finding,))),
        False,
        NOW,
    )
    assert told.problems == (Finding("RejectedByAPIServer", f"Invalid value: '{MASK}', '{MASK}'"),)


def test_what_is_told_of_a_secret_can_be_read_again_in_the_next_pass() -> None:
    resource = druid.resource()
    del resource["metadata"]["uid"]
    finding = Finding("SecretNotFound", "spec.auth.secretRef: there is no Secret login in namespace ns. Create it.")
    for _pass in range(2):
        made = Reconciled(resource, Cluster.from_resource(resource), Observed(), Plan((), (finding,)))
        told = report(REPORTING, KubernetesApi("https://192.0.2.1", Silent()), made, False, NOW)
        assert told.problems == (finding,)
        resource["status"] = told.status
