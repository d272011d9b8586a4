# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Druid that tests run on a real node: config/samples/one-node.yaml, which is only made to start sooner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_SAMPLES = Path(__file__).parents[3] / "config" / "samples"
NAME = "one-node"
# Half the processor time of the defaults.
_QUICK_JVM = "-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n"
_HEALTH = {"httpGet": {"path": "/status/health"}, "periodSeconds": 1, "failureThreshold": 300}


def resource() -> dict[str, Any]:
    """The Druid resource."""
    (cluster,) = _documents("one-node.yaml")
    cluster["spec"]["jvm.options"] += _QUICK_JVM
    for node in cluster["spec"]["nodes"].values():
        node["startUpProbe"] = {**_HEALTH, **node.get("startUpProbe", {}), "periodSeconds": 1}
        node["readinessProbe"] = node["startUpProbe"]
    return cluster


def services() -> list[dict[str, Any]]:
    """What the cluster needs: a ZooKeeper in a pod, and a PVC."""
    return _documents("one-node-services.yaml")


def _documents(name: str) -> list[dict[str, Any]]:
    return list(filter(None, yaml.safe_load_all((_SAMPLES / name).read_text())))
