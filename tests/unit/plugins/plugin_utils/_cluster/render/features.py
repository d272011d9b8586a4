# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A table of fields and their rendered values; `resource(case)` is a complete resource with the field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

POD = ("spec", "template", "spec")
MAIN = (*POD, "containers", 0)
SETS = "StatefulSet"
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1.5Gi"}}},
}
TARGET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "druid-c-brokers"}


@dataclass(frozen=True)
class Case:
    """With these fields, the object of this kind has this value at this path (None: no value)."""

    name: str
    kind: str
    path: tuple[str | int, ...]
    value: Any
    node: dict[str, Any] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)


def resource(case: Case) -> dict[str, Any]:
    """Return the resource of a case."""
    return druid.resource(case.node, **case.spec)


def probe(path: str, failures: int, **more: int) -> dict[str, Any]:
    timing = {"initialDelaySeconds": 5, "periodSeconds": 10, "timeoutSeconds": 5, "successThreshold": 1}
    return {"httpGet": {"path": path, "port": 8082}, **timing, "failureThreshold": failures, **more}


def probes() -> list[Case]:
    """Return the built-in probes by node type."""
    cases = []
    for node_type in ("coordinator", "overlord", "middleManager", "indexer", "router", "broker", "historical"):
        serving = node_type in ("broker", "historical")
        ready = probe(f"/druid/{node_type}/v1/readiness", 20) if serving else probe("/status/health", 10)
        slow = {"initialDelaySeconds": 180, "periodSeconds": 30, "timeoutSeconds": 10}
        start = {**ready, **slow} if node_type == "historical" else ready
        expected = {"livenessProbe": probe("/status/health", 10), "readinessProbe": ready, "startupProbe": start}
        cases += [
            Case(f"{node_type} {name}", SETS, (*MAIN, name), value, {"nodeType": node_type})
            for name, value in expected.items()
        ]
    return cases


FEATURES: list[Case] = [
    # a default of the API server has the same effect if it is missing
    Case("start script", SETS, (*MAIN, "command"), ["/druid.sh", "broker"]),
    Case("empty start script", SETS, (*MAIN, "command"), ["bin/run-druid.sh", "broker"], spec={"startScript": ""}),
    Case("pull policy", SETS, (*MAIN, "imagePullPolicy"), "IfNotPresent"),
    Case("node pull policy", SETS, (*MAIN, "imagePullPolicy"), "Always", {"imagePullPolicy": "Always"}),
    Case("common mount", SETS, (*MAIN, "volumeMounts", 0, "mountPath"), "/opt/druid/conf/druid/cluster/_common"),
    Case(
        "empty common mount",
        SETS,
        (*MAIN, "volumeMounts", 0, "mountPath"),
        "/druid/conf/druid/_common",
        spec={"commonConfigMountPath": ""},
    ),
    Case(
        "empty node mount",
        SETS,
        (*MAIN, "volumeMounts", 1, "mountPath"),
        "/druid/conf/druid/broker",
        {"nodeConfigMountPath": ""},
    ),
    Case("image", SETS, (*MAIN, "image"), "i", {"image": "i"}),
    Case("empty node image", SETS, (*MAIN, "image"), "apache/druid:37.0.0", {"image": ""}),
    Case("no affinity", SETS, (*POD, "affinity"), {}),
    Case("empty affinity replaces", SETS, (*POD, "affinity"), {}, {"affinity": {}}, {"affinity": {"podAffinity": {}}}),
    Case(
        "annotations are replaced",
        SETS,
        ("spec", "template", "metadata", "annotations"),
        {"a": "1"},
        {"podAnnotations": {"a": "1"}},
        {"podAnnotations": {"a": "2", "b": "3"}},
    ),
    Case(
        "empty annotations replace",
        SETS,
        ("spec", "template", "metadata", "annotations"),
        None,
        {"podAnnotations": {}},
        {"podAnnotations": {"b": "3"}},
    ),
    Case(
        "tolerations are concatenated",
        SETS,
        (*POD, "tolerations"),
        [{"key": "a"}, {"key": "b"}],
        {"tolerations": [{"key": "b"}]},
        {"tolerations": [{"key": "a"}]},
    ),
    Case(
        "empty env replaces",
        SETS,
        (*MAIN, "env", 0, "name"),
        "configMapSHA",
        {"env": []},
        {"env": [{"name": "A", "value": "1"}]},
    ),
    Case(
        "empty value is kept",
        SETS,
        (*MAIN, "env", 0),
        {"name": "A", "value": ""},
        {"env": [{"name": "A", "value": ""}]},
    ),
    Case(
        "quantities are not normalized",
        SETS,
        (*MAIN, "resources"),
        {"requests": {"cpu": "0.5", "memory": "1024Mi"}},
        {"resources": {"requests": {"cpu": "0.5", "memory": "1024Mi"}}},
    ),
    Case(
        "null is ignored",
        SETS,
        (*MAIN, "resources"),
        {"requests": {"cpu": 1}},
        {"resources": {"limits": None, "requests": {"cpu": 1, "memory": None}}},
    ),
    Case("service account", SETS, (*POD, "serviceAccountName"), "default", {}, {"serviceAccount": "default"}),
    Case("priority", SETS, (*POD, "priorityClassName"), "high", {}, {"priorityClassName": "high"}),
    Case("node priority", SETS, (*POD, "priorityClassName"), "low", {"priorityClassName": "low"}),
    # The group's own value for fields that the Go operator supports on one level only.
    Case(
        "cluster resources",
        SETS,
        (*MAIN, "resources"),
        {"limits": {"cpu": 1}},
        {},
        {"resources": {"limits": {"cpu": 1}}},
    ),
    Case(
        "cluster lifecycle",
        SETS,
        (*MAIN, "lifecycle"),
        {"preStop": {"sleep": {"seconds": 1}}},
        {},
        {"lifecycle": {"preStop": {"sleep": {"seconds": 1}}}},
    ),
    Case(
        "cluster grace period",
        SETS,
        (*POD, "terminationGracePeriodSeconds"),
        60,
        {},
        {"terminationGracePeriodSeconds": 60},
    ),
    Case(
        "node grace period of zero",
        SETS,
        (*POD, "terminationGracePeriodSeconds"),
        0,
        {"terminationGracePeriodSeconds": 0},
        {"terminationGracePeriodSeconds": 60},
    ),
    Case(
        "cluster spread",
        SETS,
        (*POD, "topologySpreadConstraints", 0, "topologyKey"),
        "zone",
        {},
        {"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]},
    ),
    # D-30: the cluster's policy is used.
    Case("policy", SETS, ("spec", "podManagementPolicy"), "Parallel"),
    Case(
        "cluster policy",
        SETS,
        ("spec", "podManagementPolicy"),
        "OrderedReady",
        {},
        {"podManagementPolicy": "OrderedReady"},
    ),
    Case(
        "node policy",
        SETS,
        ("spec", "podManagementPolicy"),
        "Parallel",
        {"podManagementPolicy": "Parallel"},
        {"podManagementPolicy": "OrderedReady"},
    ),
    # Replicas.
    Case("replicas", SETS, ("spec", "replicas"), 3, {"replicas": 3}),
    Case("replicas not set", SETS, ("spec", "replicas"), None, {"replicas": None}),
    Case("no replicas", SETS, ("spec", "replicas"), 0, {"replicas": 0}),
    Case("stopped group", SETS, ("spec", "replicas"), 0, {"replicas": 3, "stopped": True}),
    Case("stopped cluster", SETS, ("spec", "replicas"), 0, {"replicas": 3}, {"stopped": True}),
    Case(
        "replicas of an autoscaler",
        SETS,
        ("spec", "replicas"),
        None,
        {"hpAutoscaler": {"maxReplicas": 2, "scaleTargetRef": TARGET}},
    ),
    Case(
        "stopped with an autoscaler",
        SETS,
        ("spec", "replicas"),
        0,
        {"stopped": True, "hpAutoscaler": {"maxReplicas": 2, "scaleTargetRef": TARGET}},
    ),
    Case(
        "autoscaler",
        "HorizontalPodAutoscaler",
        ("spec",),
        {"maxReplicas": 2, "scaleTargetRef": TARGET},
        {"hpAutoscaler": {"maxReplicas": 2, "scaleTargetRef": TARGET}},
    ),
    # Fields of our own.
    Case("args", SETS, (*MAIN, "args"), ["-x"], {"args": ["-x"]}),
    Case("ready seconds", SETS, ("spec", "minReadySeconds"), 5, {"minReadySeconds": 5}),
    Case("history", SETS, ("spec", "revisionHistoryLimit"), 0, {"revisionHistoryLimit": 0}),
    Case(
        "retention",
        SETS,
        ("spec", "persistentVolumeClaimRetentionPolicy"),
        {"whenScaled": "Delete"},
        {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}},
    ),
    Case(
        "deadline",
        "Deployment",
        ("spec", "progressDeadlineSeconds"),
        60,
        {"kind": "Deployment", "progressDeadlineSeconds": 60},
    ),
    Case(
        "sidecar",
        SETS,
        (*POD, "containers", 1),
        {
            "name": "s",
            "image": "i",
            "command": ["c"],
            "ports": [{"containerPort": 1}],
            "livenessProbe": {"tcpSocket": {"port": 1}},
            "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
        },
        {
            "additionalContainer": [
                {
                    "containerName": "s",
                    "image": "i",
                    "command": ["c"],
                    "ports": [{"containerPort": 1}],
                    "livenessProbe": {"tcpSocket": {"port": 1}},
                    "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
                }
            ]
        },
        {"containerSecurityContext": {"runAsUser": 1}, "imagePullPolicy": "Always"},
    ),
    Case(
        "init container",
        SETS,
        (*POD, "initContainers"),
        [{"name": "s", "image": "i", "command": ["c"]}],
        {"additionalContainer": [{"containerName": "s", "image": "i", "command": ["c"], "runAsInit": True}]},
    ),
    # Deployments.
    Case("rolling update", "Deployment", ("spec", "strategy"), {"type": "RollingUpdate"}, {"kind": "Deployment"}),
    # D-03: only one of the limits.
    Case(
        "only maxSurge",
        "Deployment",
        ("spec", "strategy", "rollingUpdate"),
        {"maxSurge": 2},
        {"kind": "Deployment", "maxSurge": 2},
    ),
    Case(
        "percentages in the strategy",
        "Deployment",
        ("spec", "strategy", "rollingUpdate"),
        {"maxSurge": "50%"},
        {"kind": "Deployment", "strategy": {"rollingUpdate": {"maxSurge": "50%"}}},
    ),
    Case(
        "only maxUnavailable",
        "Deployment",
        ("spec", "strategy", "rollingUpdate"),
        {"maxUnavailable": 0},
        {"kind": "Deployment", "maxUnavailable": 0},
    ),
    Case(
        "strategy takes precedence",
        "Deployment",
        ("spec", "strategy"),
        {"type": "Recreate"},
        {"kind": "Deployment", "maxSurge": 1, "maxUnavailable": 0, "strategy": {"type": "Recreate"}},
    ),
    Case(
        "no PVC templates in a Deployment",
        "Deployment",
        ("spec", "volumeClaimTemplates"),
        None,
        {"kind": "Deployment"},
        {"volumeClaimTemplates": [CLAIM]},
    ),
    # PVCs.
    Case(
        "PVC templates",
        SETS,
        ("spec", "volumeClaimTemplates"),
        [{**CLAIM, "metadata": {"name": "first"}}, CLAIM],
        {"volumeClaimTemplates": [{**CLAIM, "status": {}}]},
        {"volumeClaimTemplates": [{**CLAIM, "metadata": {"name": "first"}}]},
    ),
    Case(
        "stand-alone PVC",
        "PersistentVolumeClaim",
        ("metadata", "name"),
        "druid-c-brokers",
        {"persistentVolumeClaim": [{"spec": CLAIM["spec"]}]},
    ),
    Case(
        "labels of a stand-alone PVC",
        "PersistentVolumeClaim",
        ("metadata", "labels", "mine"),
        "1",
        {"persistentVolumeClaim": [{"metadata": {"labels": {"mine": "1"}}, "spec": CLAIM["spec"]}]},
    ),
    # Services.
    Case("no service", SETS, ("spec", "serviceName"), ""),
    Case(
        "service name",
        SETS,
        ("spec", "serviceName"),
        "druid-c-brokers-a",
        {"services": [{"metadata": {"name": "%s-a"}}, {}]},
    ),
    Case(
        "default port",
        "Service",
        ("spec", "ports"),
        [{"name": "service-port", "port": 8082, "targetPort": 8082}],
        {"services": [{}]},
    ),
    Case("no ports", "Service", ("spec", "ports"), None, {"services": [{"spec": {"clusterIP": "None", "ports": []}}]}),
    Case(
        "own selector",
        "Service",
        ("spec", "selector", "shard"),
        "1",
        {"services": [{"spec": {"selector": {"shard": "1", "app": "mine"}}}]},
    ),
    Case(
        "own selector cannot replace fixed labels",
        "Service",
        ("spec", "selector", "app"),
        "druid",
        {"services": [{"spec": {"selector": {"shard": "1", "app": "mine"}}}]},
    ),
    Case(
        "annotations of a service",
        "Service",
        ("metadata", "annotations"),
        {"a": "b"},
        {"services": [{"metadata": {"annotations": {"a": "b"}}}]},
    ),
    Case("empty services replace", SETS, ("spec", "serviceName"), "", {"services": []}, {"services": [{}]}),
    Case(
        "user's name label takes precedence",
        "Service",
        ("metadata", "labels", "app.kubernetes.io/name"),
        "mine",
        {"services": [{"metadata": {"labels": {"app.kubernetes.io/name": "mine"}}}]},
    ),
    # Other objects.
    Case(
        "budget always selects the group",
        "PodDisruptionBudget",
        ("spec",),
        {
            "minAvailable": "50%",
            "selector": {
                "matchLabels": {
                    "app": "druid",
                    "component": "broker",
                    "druid_cr": "c",
                    "nodeSpecUniqueStr": "druid-c-brokers",
                }
            },
        },
        {"podDisruptionBudgetSpec": {"minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}}},
    ),
    Case(
        "ingress",
        "Ingress",
        ("spec",),
        {"defaultBackend": {"service": {"name": "s", "port": {"number": 1}}}},
        {"ingress": {"defaultBackend": {"service": {"name": "s", "port": {"number": 1}}}}},
    ),
    Case(
        "workload annotations",
        SETS,
        ("metadata", "annotations"),
        {"a": "1", "b": "3"},
        {"workloadAnnotations": {"a": "1"}},
        {"workloadAnnotations": {"a": "2", "b": "3"}},
    ),
    # Probes.
    *probes(),
    Case("no built-in probes", SETS, (*MAIN, "livenessProbe"), None, {}, {"defaultProbes": False}),
    Case(
        "probe without a port",
        SETS,
        (*MAIN, "livenessProbe"),
        {"httpGet": {"path": "/x", "port": 8082}},
        {"livenessProbe": {"httpGet": {"path": "/x"}}},
    ),
    Case(
        "probe with port 0",
        SETS,
        (*MAIN, "startupProbe"),
        {"httpGet": {"path": "/x", "port": 8082}},
        {},
        {"startUpProbe": {"httpGet": {"path": "/x", "port": 0}}},
    ),
    Case(
        "probe with a port",
        SETS,
        (*MAIN, "readinessProbe"),
        {"httpGet": {"path": "/x", "port": "druid-port"}},
        {"readinessProbe": {"httpGet": {"path": "/x", "port": "druid-port"}}},
    ),
    # podTemplate is merged last.
    Case(
        "podTemplate sets a field of the pod",
        SETS,
        (*POD, "hostAliases"),
        [{"ip": "192.0.2.1", "hostnames": ["a.example.com"]}],
        {"podTemplate": {"spec": {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["a.example.com"]}]}}},
    ),
    Case(
        "podTemplate sets a field of the main container",
        SETS,
        (*MAIN, "workingDir"),
        "/opt",
        {"podTemplate": {"spec": {"containers": [{"name": "druid-c-brokers", "workingDir": "/opt"}]}}},
    ),
    Case(
        "podTemplate adds a container",
        SETS,
        (*POD, "containers", 1),
        {"name": "s", "image": "i"},
        {"podTemplate": {"spec": {"containers": [{"name": "s", "image": "i"}]}}},
    ),
    Case(
        "podTemplate replaces the source of a volume",
        SETS,
        (*POD, "volumes", 2),
        {"name": "tmp", "hostPath": {"path": "/x"}},
        {
            "volumes": [{"name": "tmp", "emptyDir": {}}],
            "podTemplate": {"spec": {"volumes": [{"name": "tmp", "hostPath": {"path": "/x"}}]}},
        },
    ),
    Case(
        "podTemplate adds an annotation",
        SETS,
        ("spec", "template", "metadata", "annotations"),
        {"a": "1", "b": "2"},
        {"podAnnotations": {"a": "1"}, "podTemplate": {"metadata": {"annotations": {"b": "2"}}}},
    ),
    Case(
        "podTemplate adds a label",
        SETS,
        ("spec", "template", "metadata", "labels", "x"),
        "y",
        {"podTemplate": {"metadata": {"labels": {"x": "y"}}}},
    ),
    Case(
        "null in podTemplate is ignored",
        SETS,
        (*MAIN, "startupProbe"),
        probe("/druid/broker/v1/readiness", 20),
        {
            "podTemplate": {
                "metadata": None,
                "spec": {"initContainers": None, "containers": [{"name": "druid-c-brokers", "startupProbe": None}]},
            }
        },
    ),
    Case(
        "null for all nested parts of podTemplate",
        SETS,
        (*MAIN, "name"),
        "druid-c-brokers",
        {"podTemplate": {"metadata": {"labels": None, "annotations": None}, "spec": {"containers": None}}},
    ),
    Case(
        "null for metadata and spec of podTemplate",
        SETS,
        (*MAIN, "name"),
        "druid-c-brokers",
        {"podTemplate": {"metadata": None, "spec": None}},
    ),
    Case(
        "podTemplate cannot change the selector labels",
        SETS,
        ("spec", "template", "metadata", "labels", "app"),
        "druid",
        {"podTemplate": {"metadata": {"labels": {"app": "mine"}}}},
    ),
    # Configuration.
    Case(
        "node properties",
        "ConfigMap",
        ("data", "runtime.properties"),
        "druid.port=8082\n{{ x }} %s\n",
        {"runtime.properties": "{{ x }} %s\n"},
    ),
    Case("no jvm options", "ConfigMap", ("data", "jvm.config"), "\n"),
    Case(
        "jvm options", "ConfigMap", ("data", "jvm.config"), "-a\n-b", {"extra.jvm.options": "-b"}, {"jvm.options": "-a"}
    ),
    Case("node jvm options", "ConfigMap", ("data", "jvm.config"), "-c\n", {"jvm.options": "-c"}, {"jvm.options": "-a"}),
    Case("no logging", "ConfigMap", ("data", "log4j2.xml"), None),
    Case("logging", "ConfigMap", ("data", "log4j2.xml"), "<a/>", {"log4j.config": ""}, {"log4j.config": "<a/>"}),
]
