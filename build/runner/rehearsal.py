# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reconcile of a sample, before the resident process serves: nothing is sent, since the API is a table in memory.

What the kernel loads when it is first used is loaded then: the schema, the structure of types, regular expressions. It
would be loaded in each run again, which is a quarter of the processor time of a run with nothing to do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import field_set
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import FIELD_MANAGER, KINDS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import log_line, of_outcome

_TIME = "2026-01-01T00:00:00Z"
_NAME, _NAMESPACE = "sample", "sample"


def _group(node_type: str, kind: str) -> Manifest:
    return {
        "nodeType": node_type,
        "kind": kind,
        "druid.port": 8080,
        "nodeConfigMountPath": f"/opt/druid/conf/{node_type}",
        "runtime.properties": "druid.service=druid\n",
        "replicas": 1,
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
        "podDisruptionBudgetSpec": {"maxUnavailable": 1},
    }


SAMPLE: Mapping[str, Any] = {
    "apiVersion": "druid.apache.org/v1alpha1",
    "kind": "Druid",
    "metadata": {"name": _NAME, "namespace": _NAMESPACE, "uid": "u", "generation": 1, "finalizers": [DRUID.finalizer]},
    "spec": {
        "image": "apache/druid:0.0.0",
        "common.runtime.properties": "druid.zk.service.host=localhost\n",
        "services": [{"spec": {"type": "ClusterIP"}}],
        "nodes": {"historicals": _group("historical", "StatefulSet"), "brokers": _group("broker", "Deployment")},
    },
}


def rehearse() -> Report[Any]:
    """Reconcile the sample in check mode, with its objects as they should be; return the report."""
    desired = render(Cluster.from_resource(dict(SAMPLE)))
    api = KubernetesApi("http://localhost", Table([_live(each) for each in desired.objects]))
    options = Options(check_mode=True, keep_finalizer=True)
    report = DRUID.reconcile(api, dict(SAMPLE), options, datetime.now(UTC))
    returned = of_outcome(DRUID, Request(_NAME, _NAMESPACE, options), Outcome(DRUID.plan()).after(report), False)
    log_line(DRUID.name, returned, 0, datetime.now(UTC))
    return report


def _live(manifest: Manifest) -> Manifest:
    owned = {"manager": FIELD_MANAGER, "operation": "Apply", "apiVersion": manifest["apiVersion"], "time": _TIME}
    entry = {**owned, "fieldsType": "FieldsV1", "fieldsV1": field_set(manifest)}
    server = {"uid": "u", "resourceVersion": "1", "generation": 1, "creationTimestamp": _TIME, "managedFields": [entry]}
    return {**manifest, "metadata": {**manifest["metadata"], **server}}


class Response(NamedTuple):
    """What the table responds."""

    status: int
    data: bytes
    headers: Mapping[str, str] = {}


class Table:
    """Responds to requests with these objects; what is applied is returned as it is."""

    def __init__(self, objects: list[Manifest]) -> None:
        self._objects: dict[str, list[Manifest]] = {kind.plural: [] for kind in KINDS.values()}
        for each in objects:
            self._objects[KINDS[each["kind"]].plural].append(each)

    def request(self, method: str, url: str, body: bytes | None = None, **_arguments: Any) -> Response:
        """Respond to a LIST, a GET or an apply."""
        if method != "GET":
            return Response(200, body or b"{}")
        last = urlsplit(url).path.rpartition("/")[2]
        if last in self._objects:
            return Response(200, json.dumps({"items": self._objects[last]}).encode())
        return Response(404, json.dumps({"kind": "Status", "details": {"name": last}}).encode())
