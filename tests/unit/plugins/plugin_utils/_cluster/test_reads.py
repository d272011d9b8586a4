# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server is asked about each object of a new cluster once, and what it does not accept is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decision import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import CONFLICT, NOT_FOUND, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.features.test_other_owners import (
    foreign,
)


class Server(KubernetesApi):
    """An API server that has these objects; `requests` has the verb and the object of each request."""

    def __init__(self, *objects: Manifest) -> None:
        super().__init__("https://192.0.2.1", None, sleep=lambda _seconds: None)  # type: ignore[arg-type]
        self.objects = {key_of(each): each for each in objects}
        self.requests: list[tuple[str, ObjectKey]] = []
        self.has_namespace = True

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        self.requests.append(("get", ObjectKey(kind, name)))
        return self.objects.get(ObjectKey(kind, name))

    def apply(self, manifest: Manifest, dry_run: bool = False, manager: str = "druidops") -> Manifest:
        assert dry_run
        assert manifest["metadata"]["resourceVersion"] == "1"
        self.requests.append(("apply", key_of(manifest)))
        if not self.has_namespace:
            kind, name = key_of(manifest)
            details = {"reason": "NotFound", "details": {"kind": "namespaces", "name": "ns"}}
            raise ApiError("patch", "", kind, "ns", name, NOT_FOUND, details)
        if key_of(manifest) in self.objects:
            kind, name = key_of(manifest)
            raise ApiError("patch", "", kind, "ns", name, CONFLICT, {"reason": "Conflict"})
        return manifest

    def list_objects(self, *_arguments: Any, **_named: Any) -> list[Manifest]:
        return []


def test_objects_of_new_cluster_are_only_asked_about_in_dry_runs() -> None:
    server, found = Server(), inputs(druid.cluster())
    plan, _live = decide(replace(found, reads=ClusterReads(server, "ns", Options())))
    assert {step.key for step in plan.steps if step.operation.verb == "create"} == {*map(key_of, found.desired.objects)}
    assert sorted(server.requests) == sorted(("apply", key_of(each)) for each in found.desired.objects)


def test_object_whose_creation_is_not_accepted_is_read() -> None:
    found = inputs(druid.cluster())
    [workload] = [each for each in found.desired.objects if each["kind"] == "StatefulSet"]
    server = Server(foreign(workload))
    plan, _live = decide(replace(found, reads=ClusterReads(server, "ns", Options())))
    assert [each.reason for each in plan.findings] == [reasons.NAME_CONFLICT]
    assert [key for verb, key in server.requests if verb == "get"] == [key_of(workload)]


def test_a_missing_namespace_is_one_finding() -> None:
    server, found = Server(), inputs(druid.cluster())
    server.has_namespace = False
    plan, _live = decide(replace(found, reads=ClusterReads(server, "ns", Options())))
    assert [each.reason for each in plan.findings] == [reasons.APPLY_FAILED]
    assert len([verb for verb, _key in server.requests if verb == "apply"]) == 1


def test_a_namespace_that_goes_meanwhile_is_a_rejection_of_each_template() -> None:
    server, found = Server(), inputs(druid.cluster())
    reads = ClusterReads(server, "ns", Options())
    server.has_namespace = False
    one, two, *_others = (Apply(manifest=each, live=None) for each in found.desired.objects)
    assert reads.dry_run(one) == reads.dry_run(two)


class Everywhere(Server):
    """An API server with an object of each name in each namespace."""

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        return {"kind": kind, "metadata": {"name": name, "namespace": namespace}}


def test_secrets_of_the_same_name_are_both_known_for_masking() -> None:
    reads = ClusterReads(Everywhere(), "ns", Options())
    read = {where: reads.get("Secret", "s", where) for where in ("ns", "shared")}
    assert reads.read_secrets() == {ReferenceKey("Secret", where, "s"): secret for where, secret in read.items()}
