# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Helm chart makes what config/ makes, and its values do what they did in the Go operator's chart."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support.installation import (
    OPERATOR,
    ROOT,
    Installer,
    Manifest,
    RefusedError,
    container,
    environment,
)

# Of the range that the chart is for: without a cluster Helm takes a very old one for granted.
TEMPLATE = "helm template druid-operator charts/druid-operator --kube-version 1.30.0 --namespace"
IN_ONE_NAMESPACE = "--set-literal env.WATCH_NAMESPACE='{{ .Release.Namespace }}'"
HELM_ALONE = ("app.kubernetes.io/managed-by", "helm.sh/chart")
KEEP = {"helm.sh/resource-policy": "keep"}


@pytest.fixture
def installer(tmp_path: Path) -> Installer:
    """A helm without a cluster."""
    return Installer(tmp_path)


@pytest.mark.parametrize(
    ("variant", "namespace", "values"),
    [("default", "druid-operator-system", ""), ("namespaced", "druid", IN_ONE_NAMESPACE)],
)
def test_same_objects_as_config(installer: Installer, variant: str, namespace: str, values: str) -> None:
    chart = installer.objects(f"{TEMPLATE} {namespace} {values}")
    config = installer.objects(f"kubectl kustomize config/{variant}")
    config.pop(("Namespace", "", namespace), None)
    assert {name: essence(each) for name, each in chart.items()} == {
        name: essence(each) for name, each in config.items()
    }


def essence(manifest: Manifest) -> Manifest:
    """Return the object without what Helm wants to be there, the environment as the container sees it."""
    found = copy.deepcopy(manifest)
    metadata = found["metadata"]
    metadata["labels"] = {name: text for name, text in metadata["labels"].items() if name not in HELM_ALONE}
    if found["kind"] == "CustomResourceDefinition":
        assert metadata.pop("annotations", KEEP) == KEEP
    if found["kind"] == "Deployment":
        found["spec"]["template"]["spec"]["containers"][0]["env"] = environment(manifest)
    return found


def test_version_is_that_of_the_collection(installer: Installer) -> None:
    version = yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["version"]
    chart = yaml.safe_load((ROOT / "charts/druid-operator/Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (version, version)
    config = installer.objects("kubectl kustomize config/default")
    image = container(config["Deployment", "druid-operator-system", OPERATOR])["image"]
    assert image == f"quay.io/druidops/druid-operator:{version}"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"This collection, {version} |" in readme
    assert {*re.findall(r"druid-(?:operator|druid)[:-](\d+\.\d+\.\d+)", readme)} == {version}


VALUES: dict[str, Any] = {
    "env": {
        "WATCH_NAMESPACE": "one, two,",
        "DENY_LIST": "default,kube-system",
        "MAX_CONCURRENT_RECONCILES": 7,
        "MORE": "{{ .Release.Name }}",
    },
    "replicaCount": 2,
    "image": {"repository": "registry.example.com/operator", "tag": "v2", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "login"}],
    "fullnameOverride": "keeper",
    "livenessProbe": {"periodSeconds": 99},
    "serviceAccount": {"name": "robot", "annotations": {"example.com/role": "r"}},
    "podAnnotations": {"example.com/a": "b"},
    "podLabels": {"team": "data", "control-plane": "other"},
    "podSecurityContext": {"runAsUser": 65532},
    "resources": {"limits": {"memory": "2Gi"}},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "extraArgs": ["--zap-devel=true"],
    "crd": {"enabled": False},
}


def test_values_of_the_chart_of_the_go_operator(installer: Installer) -> None:
    (installer.directory / "values.yaml").write_text(yaml.safe_dump(VALUES), encoding="utf-8")
    found = installer.objects(f"{TEMPLATE} here --values values.yaml")
    assert {name for name in found if "Role" in name[0]} == {
        (kind, namespace, f"keeper-{role}{'binding' * (kind == 'RoleBinding')}")
        for kind in ("Role", "RoleBinding")
        for namespace, role in (("one", "manager-role"), ("two", "manager-role"), ("here", "leader-election-role"))
    }
    assert {subject["name"] for each in found.values() for subject in each.get("subjects", [])} == {"robot"}
    assert found["ServiceAccount", "here", "robot"]["metadata"]["annotations"] == {"example.com/role": "r"}
    assert not [kind for kind, _namespace, _name in found if kind == "CustomResourceDefinition"]
    check_deployment(found["Deployment", "here", "keeper-controller-manager"])


def check_deployment(deployment: Manifest) -> None:
    """Compare VALUES with the chart's values."""
    variables = environment(deployment)
    assert {**VALUES["env"], "MAX_CONCURRENT_RECONCILES": "7", "MORE": "druid-operator"}.items() <= variables.items()
    assert deployment["spec"]["replicas"] == 2
    template: Any = deployment["spec"]["template"]
    selected = deployment["spec"]["selector"]["matchLabels"]
    assert {"team": "data", **selected}.items() <= template["metadata"]["labels"].items()
    assert template["metadata"]["annotations"]["example.com/a"] == "b"
    pod, one = template["spec"], container(deployment)
    assert pod["serviceAccountName"] == "robot"
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    for name in ("imagePullSecrets", "nodeSelector", "tolerations", "affinity"):
        assert pod[name] == VALUES[name], name
    assert (one["image"], one["imagePullPolicy"]) == ("registry.example.com/operator:v2", "Always")
    assert (one["args"][1], one["args"][-1]) == ("--leader-election-id=keeper", "--zap-devel=true")
    assert one["livenessProbe"]["periodSeconds"] == 99
    assert one["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert one["resources"] == {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"memory": "2Gi"}}


@pytest.mark.parametrize(
    ("probe", "value", "handler"),
    [
        ("readinessProbe", {"periodSeconds": 20}, "exec"),
        ("readinessProbe", {"httpGet": {"path": "/readyz", "port": "probes"}}, "httpGet"),
        ("readinessProbe", {"tcpSocket": {"port": "probes"}}, "tcpSocket"),
        ("readinessProbe", {"grpc": {"port": 6789}}, "grpc"),
        ("livenessProbe", {"tcpSocket": {"port": "probes"}}, "tcpSocket"),
        ("livenessProbe", {"exec": {"command": ["true"]}}, "exec"),
    ],
)
def test_a_probe_has_one_handler(installer: Installer, probe: str, value: dict[str, Any], handler: str) -> None:
    (installer.directory / "values.yaml").write_text(yaml.safe_dump({probe: value}), encoding="utf-8")
    found = installer.objects(f"{TEMPLATE} here --values values.yaml")
    [deployment] = [each for (kind, _namespace, _name), each in found.items() if kind == "Deployment"]
    rendered = container(deployment)[probe]
    assert {"exec", "grpc", "httpGet", "tcpSocket"} & rendered.keys() == {handler}
    assert rendered.items() >= value.items()


def test_without_the_policy(installer: Installer) -> None:
    found = installer.objects(f"{TEMPLATE} here --set admissionPolicy.enabled=false")
    assert not [kind for kind, _namespace, _name in found if kind.startswith("ValidatingAdmissionPolicy")]


def test_without_a_cluster_role(installer: Installer) -> None:
    found = installer.objects(f"{TEMPLATE} here --set global.createClusterRole=false")
    assert {kind for kind, _namespace, _name in found if "Role" in kind} == {"Role", "RoleBinding"}
    assert {name for kind, _namespace, name in found if kind == "Role"} == {"druid-operator-leader-election-role"}


@pytest.mark.parametrize("values", ["", IN_ONE_NAMESPACE])
def test_permission_to_read_storage_classes(installer: Installer, values: str) -> None:
    """All-namespace operators have it in their ClusterRole."""
    found = installer.objects(f"{TEMPLATE} here {values} --set storageClasses.createClusterRole=true")
    roles = [each for (kind, _namespace, _name), each in found.items() if kind == "ClusterRole"]
    [rules] = [each["rules"] for each in roles]
    assert {"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": ["get"]} in rules
    assert len(rules) == 1 or not values
    [binding] = [each for (kind, _namespace, _name), each in found.items() if kind == "ClusterRoleBinding"]
    assert binding["roleRef"]["name"] == roles[0]["metadata"]["name"]
    assert binding["subjects"][0]["namespace"] == "here"


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ("kube_rbac_proxy.image.tag=v0.13.1", "kube_rbac_proxy: .* networkPolicy.enabled"),
        ("disableIngestionController=true", "disableIngestionController: .* druid.apache.org/ignored"),
        ("extraArgs.zap-devel=true", "extraArgs"),
        ("replicas=2", "replicas"),
        ("env.RECONCILE_WAIT=60", "RECONCILE_WAIT"),
        ("env.MAX_CONCURRENT_RECONCILES=0", "MAX_CONCURRENT_RECONCILES"),
    ],
)
def test_value_without_effect_is_rejected(installer: Installer, values: str, named: str) -> None:
    with pytest.raises(RefusedError, match=named):
        installer.run(f"{TEMPLATE} here --set {values}")


def test_two_replicas_survive_a_node(installer: Installer) -> None:
    found = installer.objects(f"{TEMPLATE} here --set replicaCount=2 --set crd.enabled=false")
    [deployment] = of_kind(found, "Deployment")
    [term] = deployment["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"].popitem()[1]
    selector = {"matchLabels": deployment["spec"]["selector"]["matchLabels"]}
    assert term["podAffinityTerm"] == {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
    [budget] = of_kind(found, "PodDisruptionBudget")
    assert budget["spec"] == {"maxUnavailable": 1, "selector": selector}
    for values in ("replicaCount=1", "replicaCount=2 --set podDisruptionBudget.enabled=false"):
        found = installer.objects(f"{TEMPLATE} here --set {values} --set crd.enabled=false")
        assert not of_kind(found, "PodDisruptionBudget")


def test_connections_can_be_restricted(installer: Installer) -> None:
    peer: Manifest = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
    egress = [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]
    metrics, probes = {"ports": [{"port": "metrics"}], "from": [peer]}, {"ports": [{"port": "probes"}]}
    for policy, expected in (
        ({}, {"policyTypes": ["Ingress"], "ingress": [probes]}),
        (
            {"metricsFrom": [peer], "egress": egress},
            {"policyTypes": ["Ingress", "Egress"], "ingress": [metrics, probes], "egress": egress},
        ),
    ):
        values = {"networkPolicy": {"enabled": True, **policy}}
        (installer.directory / "values.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
        found = installer.objects(f"{TEMPLATE} here --values values.yaml")
        [deployment], [rendered] = of_kind(found, "Deployment"), of_kind(found, "NetworkPolicy")
        selector = {"matchLabels": deployment["spec"]["selector"]["matchLabels"]}
        assert rendered["spec"] == {"podSelector": selector, **expected}


EXTRA: dict[str, Any] = {
    "extraEnv": [{"name": "SSL_CERT_FILE", "value": "/ca/ca.crt"}],
    "extraEnvFrom": [{"secretRef": {"name": "proxy"}}],
    "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
    "extraVolumeMounts": [{"name": "ca", "mountPath": "/ca"}],
    "priorityClassName": "system-cluster-critical",
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
}


def test_additional_parts_of_the_pod(installer: Installer) -> None:
    (installer.directory / "values.yaml").write_text(yaml.safe_dump(EXTRA), encoding="utf-8")
    [deployment] = of_kind(installer.objects(f"{TEMPLATE} here --values values.yaml"), "Deployment")
    pod, one = deployment["spec"]["template"]["spec"], container(deployment)
    assert EXTRA["extraEnv"][0] in one["env"]
    assert one["envFrom"] == EXTRA["extraEnvFrom"]
    assert EXTRA["extraVolumes"][0] in pod["volumes"]
    assert EXTRA["extraVolumeMounts"][0] in one["volumeMounts"]
    for name in ("priorityClassName", "topologySpreadConstraints"):
        assert pod[name] == EXTRA[name]


MONITORED = " ".join(f"--set {name}.enabled=true" for name in ("serviceMonitor", "prometheusRule", "dashboard"))
KUSTOMIZATION = """\
namespace: here
namePrefix: druid-operator-
resources: [../config/prometheus]
"""


def test_same_monitoring_as_config(installer: Installer) -> None:
    own = installer.directory / "own"
    own.mkdir()
    (own / "kustomization.yaml").write_text(KUSTOMIZATION, encoding="utf-8")
    expected = installer.objects("kubectl kustomize own --load-restrictor LoadRestrictionsNone")
    chart = installer.objects(f"{TEMPLATE} here {MONITORED}")
    assert len(expected) == 3
    for name, manifest in expected.items():
        labels = {**manifest["metadata"].pop("labels"), "app.kubernetes.io/name": "druid-operator"}
        assert labels.items() <= chart[name]["metadata"].pop("labels").items()
        selector = manifest.get("spec", {}).get("selector", {}).get("matchLabels")
        if selector is not None:
            selector["app.kubernetes.io/instance"] = "druid-operator"
        assert chart[name] == manifest


def test_monitoring_of_another_name_and_with_labels(installer: Installer) -> None:
    labels = "--set serviceMonitor.labels.release=prometheus --set prometheusRule.labels.release=prometheus"
    found = installer.objects(f"{TEMPLATE} here {MONITORED} {labels} --set nameOverride=keeper")
    [monitor], [rule] = of_kind(found, "ServiceMonitor"), of_kind(found, "PrometheusRule")
    [dashboard] = of_kind(found, "ConfigMap")
    assert monitor["metadata"]["labels"]["release"] == rule["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"] == "keeper"
    for text in (yaml.safe_dump(rule["spec"]), json.dumps(json.loads(dashboard["data"]["druid-operator.json"]))):
        assert "keeper" in text
        assert 'job="druid-operator"' not in text.replace("\\", "")


def of_kind(found: dict[Any, Manifest], kind: str) -> list[Manifest]:
    """Return the objects of a kind."""
    return [each for (name, _namespace, _name), each in found.items() if name == kind]


def test_defaults_of_the_go_operators_chart_that_mean_the_same_are_accepted(installer: Installer) -> None:
    values = {"disableIngestionController": False, "extraArgs": {}}
    (installer.directory / "values.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    installer.run(f"{TEMPLATE} here --values values.yaml")


def test_lint(installer: Installer) -> None:
    installer.run("helm lint --strict --kube-version 1.30.0 charts/druid-operator")


def test_long_release_name(installer: Installer) -> None:
    """The longest that Helm takes: the name of a Service has 63 characters."""
    name = "r" * 53
    found = installer.objects(TEMPLATE.replace("template druid-operator", f"template {name}") + " here")
    [service] = [each for kind, _namespace, each in found if kind == "Service"]
    assert len(service) <= 63
