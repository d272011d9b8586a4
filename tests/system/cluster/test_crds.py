# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The CRDs on a real API server: what they accept, reject, store and show."""

from __future__ import annotations

import copy
import json
import re
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import schema
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import NEVER_RECONCILED
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from testbed.api import ApiError
from testbed.control_plane import ControlPlane
from testbed.control_plane import control_plane as temporary

ROOT = Path(__file__).parents[3]
RECORDED = sorted((ROOT / "tests/unit/plugins/plugin_utils/_cluster/recorded").glob("*.json"))
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
API = "/apis/druid.apache.org/v1alpha1"
MERGE = "application/merge-patch+json"
# The version whose OpenAPI documents the committed files are made of.
GENERATED_FROM = "1.34"
LARGEST_ANNOTATIONS = 256 * 1024
TIMEOUT = 30
# The responses of the API server; the last one while a CRD is being established.
INVALID, NOT_FOUND, NOT_YET = 422, 404, 429

BROKER = {"nodeType": "broker", "druid.port": 8082, "nodeConfigMountPath": "/conf", "runtime.properties": ""}


def spec(**changes: Any) -> dict[str, Any]:
    return {"common.runtime.properties": "", "nodes": {"brokers": dict(BROKER)}, **changes}


def with_broker(**changes: Any) -> dict[str, Any]:
    return spec(nodes={"brokers": {**BROKER, **changes}})


def druid(value: Any, name: str = "example") -> dict[str, Any]:
    return {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid", "metadata": {"name": name}, "spec": value}


def claim(size: Any, name: str = "data") -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"resources": {"requests": {"storage": size}}}}


def container(name: str) -> dict[str, Any]:
    return {"containerName": name, "image": "busybox", "command": ["true"]}


def crd_file(plural: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "config/crd" / f"{plural}.yaml").read_text())
    return content


class Druids:
    """The Druid resources of a namespace."""

    def __init__(self, plane: ControlPlane, namespace: str, api: str = API) -> None:
        self._plane = plane
        self._path = f"{api}/namespaces/{namespace}/druids"

    def try_out(self, value: Any) -> dict[str, Any]:
        """What would be stored; unknown fields are an error."""
        path = f"{self._path}?dryRun=All&fieldValidation=Strict"
        stored: dict[str, Any] = self._plane.request("POST", path, druid(value))
        return stored

    def create(self, resource: dict[str, Any]) -> dict[str, Any]:
        stored: dict[str, Any] = self._plane.request("POST", self._path, resource)
        return stored

    def patch(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        stored: dict[str, Any] = self._plane.request("PATCH", f"{self._path}/{name}", body, content_type=MERGE)
        return stored

    def refusal(self, call: Callable[[], object]) -> str:
        """The message with which the API server rejects."""
        with pytest.raises(ApiError) as caught:
            call()
        assert caught.value.status == INVALID, caught.value
        return caught.value.message

    def table(self) -> dict[str, str]:
        """What kubectl get shows of the only resource."""
        context = ssl.create_default_context(cafile=str(self._plane.ca_file))
        headers = {
            "Authorization": f"Bearer {self._plane.token()}",
            "Accept": "application/json;as=Table;v=v1;g=meta.k8s.io",
        }
        request = urllib.request.Request(self._plane.url + self._path, headers=headers)
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(request, timeout=TIMEOUT) as answer:
            table = json.load(answer)
        names = [column["name"] for column in table["columnDefinitions"] if column["priority"] == 0]
        [row] = table["rows"]
        return dict(zip(names, row["cells"], strict=True))


@pytest.fixture
def druids(control_plane: ControlPlane, namespace: str) -> Druids:
    return Druids(control_plane, namespace)


@pytest.fixture(scope="module")
def generated_from(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """A control plane of the version that the files are made of."""
    if control_plane.kubernetes.minor == GENERATED_FROM:
        yield control_plane
    else:
        with temporary(GENERATED_FROM) as other:
            yield other


def test_files_match_the_generator_with_this_server(generated_from: ControlPlane) -> None:
    command = [sys.executable, "-m", "tools.crd.generate", "--check", "--openapi", str(generated_from.kubeconfig())]
    subprocess.run(command, cwd=ROOT, check=True)


@pytest.mark.parametrize("plural", ["druids", "druidingestions"])
def test_a_plain_apply_is_accepted(control_plane: ControlPlane, plural: str) -> None:
    crd = crd_file(plural)
    last_applied = json.dumps(crd, separators=(",", ":")) + "\n"
    assert len(last_applied) < LARGEST_ANNOTATIONS
    crd["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": last_applied}
    path = f"{CRDS}/{crd['metadata']['name']}"
    control_plane.request("PATCH", f"{path}?dryRun=All&fieldValidation=Strict", crd, content_type=MERGE)


@pytest.mark.parametrize("plural", ["druids", "druidingestions"])
def test_api_server_reports_no_warnings(control_plane: ControlPlane, plural: str) -> None:
    crd = control_plane.request("GET", f"{CRDS}/{plural}.druid.apache.org")
    conditions = {each["type"]: each["status"] for each in crd["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
@pytest.mark.parametrize("form", ["applied", "stored"])
def test_accepts_current_resources_and_stores_them_as_the_go_operator_does(
    druids: Druids, file: Path, form: str
) -> None:
    specified = json.loads(file.read_text())[form]["spec"]
    stored = druids.try_out(specified)["spec"]
    result = schema.apply(schema.spec_of("Druid"), specified)
    assert (result.value, result.errors, result.pruned) == (stored, (), ())


def test_accepts_the_samples(control_plane: ControlPlane, namespace: str, druids: Druids) -> None:
    sample = yaml.safe_load((ROOT / "config/samples/druid.yaml").read_text())
    stored = druids.try_out(sample["spec"])["spec"]
    assert schema.apply(schema.spec_of("Druid"), sample["spec"]) == schema.ValidationResult(stored, (), ())
    ingestion = yaml.safe_load((ROOT / "config/samples/druidingestion.yaml").read_text())
    path = f"{API}/namespaces/{namespace}/druidingestions?dryRun=All&fieldValidation=Strict"
    assert control_plane.request("POST", path, ingestion)["spec"] == ingestion["spec"]


@pytest.mark.parametrize(
    "changes",
    [
        {"dynamicConfig": {"a": None, "b": [None]}},
        {"zookeeper": {"type": "default", "spec": {"properties": "a=b", "other": {"c": 1}}}},
        {"livenessProbe": {"httpGet": {"path": "/"}}},
        {"image": None, "imagePullPolicy": None, "podLabels": {"a": None}, "env": [{"name": "A", "value": None}]},
        {"nodes": {"brokers": BROKER, "gone": None}},
        {"nodes": {"brokers": {**BROKER, "druid.port": 8082.0, "maxSurge": 1, "maxUnavailable": 0}}},
        {"volumeClaimTemplates": [claim(1), *[claim("1Gi", "a" * 64)] * 16]},
        {"services": [{"metadata": {"name": ""}}, {"metadata": {"name": "a-%s-b"}}, {"status": {"loadBalancer": {}}}]},
        {"middleManagerDrainStrategy": {"drainTimeout": "1h30m"}},
        {"middleManagerDrainStrategy": {"maxUnavailable": 3}},
        {"middleManagerDrainStrategy": {"maxUnavailable": "25%"}},
        {"historicalDecommissionStrategy": {}},
        {"nodes": {"brokers": {**BROKER, "historicalDecommissionStrategy": {"onTimeout": "Shrink"}}}},
        {"env": [{"name": "A"}, {"name": "A"}], "imagePullSecrets": [{"name": "a"}, {"name": "a"}]},
        {"additionalContainer": [{**container("ä" * 63), "ports": [{"containerPort": 1}]}]},
    ],
)
def test_stores_the_same_as_the_schema_library(druids: Druids, changes: dict[str, Any]) -> None:
    specified = spec(**changes)
    expected = druids.try_out(specified)["spec"]
    assert schema.apply(schema.spec_of("Druid"), specified) == schema.ValidationResult(expected, (), ())


KINDS = "Required value|Invalid value|Unsupported value|Too long|Too many"
ERROR = re.compile(rf"(spec[^ :]*): ({KINDS})")


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"common.runtime.properties": ""},
        spec(nodes=[]),
        spec(nodes=None),
        spec(nodes={"brokers": []}),
        spec(nodes={"a.b": {}, "brokers": BROKER}),
        spec(nodes={f"n{i}": BROKER for i in range(65)}),
        with_broker(nodeType="x"),
        with_broker(**{"druid.port": "many"}),
        with_broker(**{"druid.port": 8082.5}),
        with_broker(**{"druid.port": True}),
        with_broker(**{"druid.port": 0}),
        with_broker(**{"druid.port": 65536}),
        with_broker(replicas=-1),
        with_broker(maxSurge="25%"),
        with_broker(maxSurge=[]),
        with_broker(dnsPolicy="x"),
        with_broker(hpAutoscaler={"maxReplicas": "x"}),
        spec(image=[]),
        spec(rollingDeploy="perhaps"),
        spec(env="x"),
        spec(env=["x"]),
        spec(env=[None]),
        spec(env=[{"value": "x"}]),
        spec(affinity=[]),
        spec(podLabels={"a": {}}),
        spec(resources={"requests": {"cpu": "many"}}),
        spec(resources={"requests": {"cpu": []}}),
        spec(resources={"requests": {"cpu": True}}),
        spec(terminationGracePeriodSeconds=-1),
        spec(livenessProbe={"tcpSocket": {}}),
        spec(additionalContainer=[container(str(i)) for i in range(17)]),
        spec(additionalContainer=[{"containerName": "a"}]),
        spec(additionalContainer=[container("ä" * 64)]),
        spec(zookeeper={"type": "default", "spec": "text"}),
        spec(middleManagerDrainStrategy={"drainTimeout": "soon"}),
        spec(middleManagerDrainStrategy={"maxUnavailable": 0}),
        spec(middleManagerDrainStrategy={"maxUnavailable": "0%"}),
        spec(middleManagerDrainStrategy={"maxUnavailable": "two"}),
        spec(historicalDecommissionStrategy={"decommissionTimeout": "soon", "onTimeout": "Delete"}),
    ],
)
def test_rejects_the_same_as_the_schema_library(druids: Druids, value: Any) -> None:
    message = druids.refusal(lambda: druids.try_out(value))
    errors = schema.apply(schema.spec_of("Druid"), value).errors
    assert {(error.path, error.kind) for error in errors} == set(ERROR.findall(message))


CONTAINERS = "two containers have the same containerName; give each its own"
SERVICE = "the name of a Service must contain %s exactly once"


BROKEN_RULES = pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"additionalContainer": [container("a"), container("b"), container("a")]}, CONTAINERS),
        ({"services": [{"metadata": {"name": "fixed"}}]}, SERVICE),
        ({"services": [{"metadata": {"name": "%s-%s"}}]}, SERVICE),
        ({"services": [{"metadata": {"name": "%s-%d"}}]}, SERVICE),
    ],
)


@BROKEN_RULES
def test_rules_explain_the_error(druids: Druids, changes: dict[str, Any], message: str) -> None:
    assert message in druids.refusal(lambda: druids.try_out(spec(**changes)))
    assert message in druids.refusal(lambda: druids.try_out(with_broker(**changes)))


@BROKEN_RULES
def test_rules_apply_to_changes_of_a_valid_resource(druids: Druids, changes: dict[str, Any], message: str) -> None:
    right = {"additionalContainer": [container("a")], "services": [{"metadata": {"name": "%s"}}, {}]}
    druids.create(druid(spec(**right, nodes={"brokers": {**BROKER, **right}})))
    assert message in druids.refusal(lambda: druids.patch("example", {"spec": changes}))
    assert message in druids.refusal(lambda: druids.patch("example", {"spec": {"nodes": {"brokers": changes}}}))
    assert druids.patch("example", {"spec": right})["metadata"]["generation"] == 1


def test_columns_and_descriptions(druids: Druids) -> None:
    druids.create(druid(spec()))
    condition = {"type": "Ready", "status": "False", "reason": "Waiting", "message": "", "observedGeneration": 1}
    condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    status = {"conditions": [condition], "reason": "Waiting", "nodes": "5/6", "version": "33.0.0"}
    druids.patch("example/status", {"status": status})
    shown = druids.table()
    assert list(shown) == ["Name", "Ready", "Reason", "Nodes", "Rollout", "Version", "Age"]
    assert [shown[name] for name in ("Ready", "Reason", "Nodes", "Version")] == ["False", "Waiting", "5/6", "33.0.0"]


def test_short_names_and_categories(control_plane: ControlPlane) -> None:
    served = control_plane.request("GET", "/apis/druid.apache.org/v1alpha1")["resources"]
    kinds = [each for each in served if "/" not in each["name"]]
    names = {each["name"]: (each["singularName"], each["shortNames"], each["categories"]) for each in kinds}
    assert names == {
        "druids": ("druid", ["drd"], ["druidops"]),
        "druidingestions": ("druidingestion", ["dring"], ["druidops"]),
        "druidlookups": ("druidlookup", ["drlookup"], ["druidops"]),
        "druidroles": ("druidrole", ["drrole"], ["druidops"]),
        "druidusers": ("druiduser", ["druser"], ["druidops"]),
        "collectors": ("collector", ["drcol"], ["druidops"]),
    }
    # kubectl takes a word for a category first: `kubectl delete druid --all` would delete the ingestions, too
    words = {word for plural, (singular, short, _categories) in names.items() for word in (plural, singular, *short)}
    assert words.isdisjoint(word for _singular, _short, categories in names.values() for word in categories)


def test_keeps_the_status_of_every_release_line_of_the_go_operator(druids: Druids) -> None:
    druids.create(druid(spec()))
    lists = ("statefulSets", "deployments", "services", "configMaps", "podDisruptionBudgets", "ingress")
    status = {name: ["a"] for name in (*lists, "hpAutoscalers", "pods", "persistentVolumeClaims")}
    status["druidNodeStatus"] = {"druidNode": "all", "druidNodeConditionStatus": "True", "reason": "fine"}
    status |= {"deploymentLifecycle": {"phase": "Succeeded"}, "middleManagerDrain": {"phase": "Draining"}}
    assert druids.patch("example/status", {"status": status})["status"] == {**NEVER_RECONCILED, **status}


# A stored resource that violates the rules. The CRD is a copy in another group, so it does not affect other tests.
GROUP = "before.example.com"
COPY = f"druids.{GROUP}"


def copied(rules: bool) -> dict[str, Any]:
    """The CRD in another group, with or without the rules that the Go operator's does not have."""
    crd = crd_file("druids")
    crd["metadata"]["name"] = COPY
    crd["spec"]["group"] = GROUP
    crd["spec"]["names"].update(shortNames=[], categories=[])
    if not rules:
        [version] = crd["spec"]["versions"]
        _loosen(version["schema"]["openAPIV3Schema"])
    return crd


# Kubernetes enforces the format int32 since 1.36.
RULES = (
    "x-kubernetes-validations",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minimum",
    "maximum",
    "pattern",
    "format",
)


def _loosen(schema: dict[str, Any]) -> None:
    for keyword in RULES:
        schema.pop(keyword, None)
    for inside in schema.get("properties", {}).values():
        _loosen(inside)
    for key in ("items", "additionalProperties"):
        if key in schema:
            _loosen(schema[key])


BROKEN_GROUP = {
    **BROKER,
    "druid.port": 0,
    # which Go cannot decode
    "maxSurge": 1 << 31,
    "resources": {"limits": {"memory": "1e1.5"}},
    "additionalContainer": [container("a"), container("a")],
    "services": [{"metadata": {"name": "fixed"}}] * 17,
}
BROKEN = {
    **{key: BROKEN_GROUP[key] for key in ("additionalContainer", "services")},
    "common.runtime.properties": "",
    "nodes": {"broken": BROKEN_GROUP, "brokers": BROKER},
}
FINALIZER = "deletepvc.finalizers.druid.apache.org"
RELEASE = {"metadata": {"finalizers": None}}


@pytest.fixture
def stored(control_plane: ControlPlane, namespace: str) -> Iterator[Druids]:
    """A resource named broken, stored before there were rules, and the rules in force."""
    control_plane.request("POST", CRDS, copied(rules=False))
    druids = Druids(control_plane, namespace, f"/apis/{GROUP}/v1alpha1")
    try:
        yield _stored_before_rules(control_plane, namespace, druids)
    finally:
        # A finalizer that a failing test leaves would keep the CRD.
        _answer(lambda: druids.patch("broken", RELEASE), {NOT_FOUND, INVALID})
        control_plane.request("DELETE", f"{CRDS}/{COPY}")
        eventually(lambda: not _exists(control_plane, f"{CRDS}/{COPY}"))


def _stored_before_rules(plane: ControlPlane, namespace: str, druids: Druids) -> Druids:
    eventually(lambda: _exists(plane, f"/apis/{GROUP}/v1alpha1/namespaces/{namespace}/druids"))
    resource = {**druid(copy.deepcopy(BROKEN), "broken"), "apiVersion": f"{GROUP}/v1alpha1"}
    resource["metadata"]["finalizers"] = [FINALIZER]
    druids.create(resource)
    plane.request("PATCH", f"{CRDS}/{COPY}", copied(rules=True), content_type=MERGE)
    change = {"spec": {"nodes": {"brokers": {"druid.port": 0}}}}
    eventually(lambda: _is_refused(lambda: druids.patch("broken?dryRun=All", change)))
    return druids


def _exists(plane: ControlPlane, path: str) -> bool:
    return _answer(lambda: plane.request("GET", path), {NOT_FOUND, NOT_YET}) is None


def _is_refused(call: Callable[[], object]) -> bool:
    return _answer(call, {INVALID, NOT_YET}) == INVALID


def _answer(call: Callable[[], object], expected: set[int]) -> int | None:
    """The status of the error, if it is an expected one; None when there is none."""
    try:
        call()
    except ApiError as error:
        if error.status not in expected:
            raise
        return error.status
    return None


def test_invalid_resource_from_before_the_rules_can_be_changed(stored: Druids) -> None:
    stored.patch("broken", {"metadata": {"labels": {"team": "data"}}})
    stored.patch("broken/status", {"status": {"nodes": "0/1"}})
    changed = stored.patch("broken", {"spec": {"nodes": {"brokers": {"replicas": 2}}, "image": "druid"}})
    assert changed["spec"]["nodes"]["broken"]["services"] == BROKEN_GROUP["services"]
    stored.patch("broken", {"spec": {"nodes": {"broken": {"replicas": 2}}}})
    still = {"additionalContainer": [container("a"), container("c"), container("a")]}
    stored.patch("broken", {"spec": still | {"services": [{"metadata": {"name": "fixed"}}, {}]}})
    assert CONTAINERS in stored.refusal(
        lambda: stored.patch("broken", {"spec": {"additionalContainer": [container("b"), container("b")]}})
    )
    released = stored.patch("broken", RELEASE)
    assert "finalizers" not in released["metadata"]
