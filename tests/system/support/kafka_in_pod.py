# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Kafka in a pod of a real node, which the pods of the node and this machine reach by the address of the pod."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from testbed.druid.kafka import Kafka
from testbed.node.images import KAFKA_IMAGE

_NAME = "kafka"
_PORT = 9092


def start(live: NamespaceClient) -> Kafka:
    """Start one, and return it once it takes requests; its rows end with the pod."""
    live.create(_pod())
    address = eventually(lambda: _address(live.get("Pod", _NAME)))
    kafka = Kafka(f"{address}:{_PORT}")
    eventually(kafka.answers)
    return kafka


def _pod() -> Manifest:
    container = {
        "name": _NAME,
        "image": KAFKA_IMAGE,
        "ports": [{"containerPort": _PORT}],
        "readinessProbe": {"tcpSocket": {"port": _PORT}, "periodSeconds": 1},
        "resources": {"limits": {"memory": "512Mi"}},
    }
    spec = {"terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"kind": "Pod", "metadata": {"name": _NAME}, "spec": spec}


def _address(pod: Manifest) -> str | None:
    is_ready = "podIP" in pod["status"] and condition(pod, "Ready")["status"] == "True"
    return str(pod["status"]["podIP"]) if is_ready else None
