# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No secret that a reconcile has read leaves it, whatever text quotes it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import MASK
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import overridden_values
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.dynamic_config import ChangeConfig
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan, Waits
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import state as collector_state
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import COLLECTOR
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release, Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.steps import Restore
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import state as ingestion_state
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import Terminate, Write
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import TEXTS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import StepResult
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Options, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import log_line, of_outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, run
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    KAFKA,
    resource,
    supervisor_change,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.memory_api import MemoryApi
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[5]
NOW = datetime(2026, 1, 2, tzinfo=UTC)
PASSWORD = 'correct "horse" battery\nstaple'
ENCODED = base64.b64encode(PASSWORD.encode()).decode()
SECRET: Manifest = {"kind": "Secret", "metadata": {"name": "s", "namespace": "ns"}, "data": {"any": ENCODED}}
# Those that a text of others may have, and both ends of each, which are left if it is truncated before.
FORMS = (PASSWORD, json.dumps(PASSWORD)[1:-1], ENCODED)
PARTS = ("correct", "staple", ENCODED[:6], ENCODED[-6:])


@dataclass(frozen=True)
class Example:
    """What a reconcile of a kind came to, with a text at each place that can have one, and a value in an object."""

    kind: Kind[Any, Any, Any]
    resource: Manifest
    result: Callable[[Manifest, str, str], Any]


def findings(text: str) -> tuple[Finding, ...]:
    """Return a problem, and information."""
    return Finding("ApplyFailed", text), Finding("ChangesPending", text, is_problem=False)


def config_map(text: str) -> Manifest:
    """Return an object in which nothing indicates a secret."""
    metadata = {"name": "n", "namespace": "ns", "uid": "u", "resourceVersion": "1"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": text}}


def of_cluster(manifest: Manifest, text: str, value: str, former: str = "") -> ClusterResult:
    desired = config_map(f"{text}{value}")
    applied = Apply(manifest=desired, live=config_map(former), after=desired)
    plan = Plan(
        (applied,),
        findings(text),
        (text,),
        rollout_warnings=(text,),
        later=(replace(applied, effects=()),),
        waits=Waits(text, refused_evictions=(text,)),
    )
    observed = Observed(references={ReferenceKey("Secret", "ns", "s"): SECRET})
    results = (StepResult(applied), StepResult(applied, error=text))
    return ClusterResult(manifest, Cluster.from_resource(manifest), observed, plan, results)


def of_cluster_with_another_end(manifest: Manifest, text: str, value: str) -> ClusterResult:
    """Return the reconcile of a cluster in which a value changes behind the secret."""
    return of_cluster(manifest, text, value, f"{text}{value}x")


def of_cluster_that_waits(manifest: Manifest, text: str, value: str) -> ClusterResult:
    """Return the reconcile of a cluster whose changes are all due later."""
    result = of_cluster(manifest, text, value)
    return replace(result, plan=replace(result.plan, steps=()), results=result.results[1:])


def of_ingestion(manifest: Manifest, text: str, value: str) -> ingestion_state.IngestionResult:
    described = {**KAFKA, "spec": {**KAFKA["spec"], "tuningConfig": {"text": value}}}
    plan = ingestion_state.Plan(
        (Write(supervisor_change(KAFKA, described)), Terminate("supervisor", text)), findings(text), (text,)
    )
    payload = {"state": text, "detailedState": text, "healthy": False, "recentErrors": [{"message": text}]}
    return ingestion_state.IngestionResult(
        manifest,
        plan,
        Ingestion.from_resource(manifest),
        ingestion_state.SupervisorState(supervisor_change(KAFKA, KAFKA), payload),
        ingestion_state.Observed(secrets={SecretKey("ns", "s", "spec.auth.secretRef"): SECRET}),
    )


def of_collector(manifest: Manifest, text: str, value: str) -> collector_state.CollectorResult:
    revision = Revision(SECRET, 1, "failed", "c", "1.0.0", "1", {}, (), description=text)
    change = collector_state.ObjectChange(config_map(""), config_map(value))
    return collector_state.CollectorResult(
        manifest,
        collector_state.Plan((Restore(change, revision),), findings(text), (text,)),
        Collector.from_resource(manifest),
        Release((), revision, revision),
        secrets=(SECRET,),
        objects=collector_state.Objects(unavailable=(text,), cause=text),
        failed_attempt={"digest": "d", "message": text},
    )


def collector() -> Manifest:
    metadata = {"name": "c", "namespace": "ns", "uid": "u", "generation": 1, "resourceVersion": "1"}
    spec = {"collector": {"name": "c"}}
    return {"apiVersion": KINDS["Collector"].api_version, "kind": "Collector", "metadata": metadata, "spec": spec}


EXAMPLES = (
    Example(DRUID, druid.resource(), of_cluster),
    Example(DRUID, druid.resource(), of_cluster_with_another_end),
    Example(DRUID, druid.resource(), of_cluster_that_waits),
    Example(INGESTION, resource(), of_ingestion),
    Example(COLLECTOR, collector(), of_collector),
)
QUOTING = st.builds(
    lambda before, form, after: (f"{before}{form}{after}", form),
    st.one_of(st.text("x \n-:'", max_size=4), st.integers(40, 4100).map("-".__mul__)),
    st.sampled_from(FORMS),
    st.one_of(st.text("x \n-:'", max_size=4), st.integers(0, 3000).map("-".__mul__)),
)


def name_of(each: Example) -> str:
    return each.result.__name__


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
@given(texts=QUOTING)
def test_no_exit_has_a_secret_that_was_read(example: Example, check_mode: bool, texts: tuple[str, str]) -> None:
    """Status and events as the API server has them; result and log line as Ansible and the operator have them."""
    kind, manifest, api = example.kind, example.resource, MemoryApi()
    manifest = {**manifest, "metadata": {**manifest["metadata"], "uid": "u", "generation": 2, "resourceVersion": "1"}}
    name = manifest["metadata"]["name"]
    api.objects[kind.name, name] = manifest
    api.warnings.append(texts[0])
    report = kind.report(api, example.result(manifest, *texts), check_mode, NOW)
    outcome = Outcome(kind.plan()).after(report)
    request = Request(name, "ns", Options(check_mode))
    result = of_outcome(kind, request, outcome, fail_when_blocked=True)
    line = log_line(kind.name, result, 1, NOW)
    found = "\n".join(map(str, _texts([api.objects, result, line])))
    assert not [part for part in (*FORMS, *PARTS) if part in found]
    assert MASK in found
    assert check_mode or {"Event", kind.name} == {each for each, _name in api.objects}


def test_a_secret_that_only_its_place_reveals_is_in_no_text() -> None:
    """What a webhook or Druid has made of an object was not read, and a short value is not searched for."""
    before, after = ({**config_map(""), "data": {"password": value}} for value in ("a1", "b2"))
    change = DruidChange("dynamicConfig", "overlord", "of the Overlord", {}, before["data"], after["data"])
    admitted = Verdict(Apply(manifest=before, live=before, after=before), after)
    draft: Any = SimpleNamespace(verdicts=(admitted,), inputs=Mock(reads=Mock(recreations=Mock(return_value=()))))
    texts = (
        Apply(manifest=after, live=before, after=after).message,
        ChangeConfig.of(change).message,
        *overridden_values(draft),
    )
    assert len(texts) == 3
    for text in texts:
        assert "password" in text
        assert MASK in text
        assert not {"a1", "b2"} & {*re.findall(r"\w+", text)}


def _texts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from (text for pair in value.items() for part in pair for text in _texts(part))
    elif isinstance(value, list | tuple):
        yield from (text for part in value for text in _texts(part))
    else:
        yield value


@pytest.mark.parametrize("is_submitted", [False, True])
def test_no_error_has_a_secret_of_the_resource(is_submitted: bool) -> None:
    manifest = collector()
    manifest["spec"]["values"] = {"password": PASSWORD}
    kinds = ("Collector",) if is_submitted else ("Secret", "ConfigMap")
    methods = ("POST", "PATCH") if is_submitted else ("GET", "POST")
    api = MemoryApi(rejected={(method, kind): f"Invalid value: {PASSWORD}" for method in methods for kind in kinds})
    if not is_submitted:
        api.objects["Collector", "c"] = manifest
    options = COLLECTOR.to_options({**DEFAULTS, **_defaults(COLLECTOR)}, False, Options().meter)
    request = Request("c", "ns", options, resource=manifest if is_submitted else None)
    with pytest.raises(KubernetesError) as raised:
        run(COLLECTOR, api, request, str, Clock())
    assert PARTS[0] not in str(raised.value)
    assert MASK in str(raised.value)
    if not is_submitted:
        reported = str(api.objects["Collector", "c"]["status"])
        assert PARTS[0] not in reported
        assert MASK in reported


class Quoting(MemoryApi):
    """An API server whose rejection of a request for the object t quotes a Secret."""

    def _request(self, method: str, kind: str, namespace: str | None, *arguments: Any, **named: Any) -> Manifest:
        if arguments[:1] == ("t",):
            raise self._error(method, kind, namespace, "t", 500, f"Invalid value: {PASSWORD}")
        return super()._request(method, kind, namespace, *arguments, **named)


@pytest.mark.parametrize("is_rejected", [False, True])
def test_secrets_of_the_environment_of_a_collector_are_masked(is_rejected: bool) -> None:
    """They are read for their checksum only, but pods have them, and any message may quote them."""
    manifest = collector()
    manifest["spec"]["values"] = {"environmentSecrets": ["s", "t"]}
    api = Quoting(objects={("Secret", "s"): SECRET}) if is_rejected else MemoryApi(objects={("Secret", "s"): SECRET})
    options = COLLECTOR.to_options({**DEFAULTS, **_defaults(COLLECTOR)}, True, Options().meter)
    if is_rejected:
        with pytest.raises(KubernetesError) as raised:
            COLLECTOR.reconcile(api, manifest, options, NOW)
        assert (PARTS[0] in str(raised.value), MASK in str(raised.value)) == (False, True)
    else:
        report = COLLECTOR.reconcile(api, manifest, options, NOW)
        assert report.masking.text(PASSWORD) == MASK


DEFAULTS: Mapping[str, Any] = {"operator": False, "allowed_reference_namespaces": []}


def _defaults(kind: Kind[Any, Any, Any]) -> dict[str, Any]:
    return {name: option.get("default") for name, option in kind.arguments.items()}


# Fields of a status that are no texts: constants, times, and what names an object or is read again.
_OTHERS: Mapping[str, str] = {
    "Druid": """
        configMaps deploymentLifecycle deployments druidNodeStatus.druidNode druidNodeStatus.druidNodeConditionStatus
        druidNodeStatus.druidNodeConditionType dynamicConfig.* expandingVolumes.capacity expandingVolumes.name
        expandingVolumes.since expandingVolumes.size hiddenWarnings historicalDecommission.emptyConfirmedAt
        historicalDecommission.emptySince historicalDecommission.group historicalDecommission.pod
        historicalDecommission.server historicalDecommission.startedAt historicalDecommission.unlistedSince
        hpAutoscalers ingress middleManagerDrain nodes orphanedPvcs.deletedAfter orphanedPvcs.name
        persistentVolumeClaims podDisruptionBudgets pods reason rollout.group rollout.pending rollout.progress
        rollout.progressedAt rollout.revision rollout.startedAt services statefulSets version
    """,
    "DruidIngestion": """
        appliedHash appliedTo currentIngestionSpec.json lastUpdateTime reason rules status taskId type
    """,
    "Collector": """
        failedAttempt.digest release.appVersion release.chart release.name release.namespace release.state
        release.updated
    """,
}
OF_CONDITIONS = {f"conditions.{field}" for field in ("lastTransitionTime", "reason", "status", "type")}


@pytest.mark.parametrize("kind", [DRUID, INGESTION, COLLECTOR], ids=lambda kind: kind.name)
def test_each_field_of_a_status_is_a_text_or_is_none(kind: Kind[Any, Any, Any]) -> None:
    definitions = (
        each for path in (ROOT / "config/crd").rglob("*.yaml") for each in yaml.safe_load_all(path.read_text("utf-8"))
    )
    [found] = [
        each
        for each in definitions
        if each["kind"] == "CustomResourceDefinition" and each["spec"]["names"]["kind"] == kind.name
    ]
    status = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
    fields = {".".join(path) for path in _text_fields(status)}
    texts = {".".join(path) for path in (*TEXTS, *kind.texts)}
    others = {*_OTHERS[kind.name].split()}
    assert fields - OF_CONDITIONS - others == texts & fields
    assert not texts & others


def _text_fields(schema: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all fields that can have a text."""
    if schema.get("type") == "array":
        yield from _text_fields(schema["items"], path)
    elif "properties" in schema or isinstance(schema.get("additionalProperties"), Mapping):
        inside = {**schema.get("properties", {}), **({"*": e} if (e := schema.get("additionalProperties")) else {})}
        for name, child in inside.items():
            yield from _text_fields(child, (*path, name))
    elif schema.get("type") not in ("integer", "boolean"):
        yield path
