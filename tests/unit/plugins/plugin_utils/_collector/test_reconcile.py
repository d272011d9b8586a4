# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the deletion of a Collector reads, and what it does if it cannot read that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconcile import finalize
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import FINALIZER
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


@dataclass
class Unreadable:
    """An API server that permits no list of Secrets."""

    namespace: Manifest | None
    calls: list[str] = field(default_factory=list)

    def list_objects(self, kind: str, namespace: str, *_selectors: str) -> list[Manifest]:
        self.calls.append(f"list {kind} in {namespace}")
        raise ApiError("list", "secrets", kind, namespace, None, FORBIDDEN, {})

    def create(self, manifest: Manifest, dry_run: bool = False) -> Manifest:
        raise ApiError("create", "configmaps", "ConfigMap", None, None, FORBIDDEN, {})

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        return self.namespace


ACTIVE: Manifest = {"metadata": {"name": "tenant"}}
TERMINATING: Manifest = {"metadata": {"name": "tenant", "deletionTimestamp": "2026-01-01T00:00:00Z"}}


def resource(**spec: Any) -> Manifest:
    metadata = {"name": "a", "namespace": "ns", "uid": "u", "finalizers": [FINALIZER]}
    release = {"name": "telemetry", "namespace": "tenant"}
    return {"metadata": metadata, "spec": {"tenant": "tenant", **spec}, "status": {"release": release}}


def finalized(api: Unreadable, allowed: tuple[str, ...] = ("tenant",), **spec: Any) -> tuple[list[str], str]:
    options = Options(check_mode=True, allowed_tenant_namespaces=allowed)
    result = finalize(cast(KubernetesApi, api), resource(**spec), options)
    return [step.title for step in result.plan.steps], " ".join(result.plan.warnings)


@pytest.mark.parametrize("namespace", [None, TERMINATING])
def test_namespace_that_goes_takes_the_release_along(namespace: Manifest | None) -> None:
    steps, warning = finalized(Unreadable(namespace))
    assert steps == ["remove the finalizer"]
    assert "deleted with its namespace" in warning


def test_permission_that_is_missing_blocks() -> None:
    with pytest.raises(ApiError):
        finalized(Unreadable(ACTIVE))


def test_nothing_is_read_of_a_release_that_stays() -> None:
    api = Unreadable(ACTIVE)
    steps, warning = finalized(api, deletionPolicy="Retain")
    assert (steps, "deletionPolicy: Retain" in warning) == (["remove the finalizer"], True)
    # a status that another client has written does not lead to another tenant
    steps, warning = finalized(api, allowed=())
    assert (steps, "does not allow" in warning) == (["remove the finalizer"], True)
    assert api.calls == []
