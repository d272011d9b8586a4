# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server accepts a field and does not store it, as volumeAttributesClassName before Kubernetes 1.34."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.simulator.server import store_all
from ansible_collections.druidops.druid.tests.simulator.specification import NAMESPACE, Cluster, Group
from ansible_collections.druidops.druid.tests.simulator.store import Manifest
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Create, Edit
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer

FIELD = "volumeAttributesClassName"


def without_attributes_class(manifest: Manifest) -> Manifest:
    """Return a PVC without its attributes class; the templates of a StatefulSet keep it."""
    if manifest["kind"] != "PersistentVolumeClaim":
        return manifest
    return {**manifest, "spec": {name: value for name, value in manifest["spec"].items() if name != FIELD}}


@pytest.mark.parametrize("is_enabled", [True, False])
def test_an_attributes_class(is_enabled: bool) -> None:
    observer = Observer("operator")
    observer.act(Create(Cluster({"brokers": Group(has_standalone_claim=True)})))
    observer.converge()
    subject = observer.subject
    standalone = subject.world.store.get("PersistentVolumeClaim", NAMESPACE, "standalone-brokers")
    assert standalone is not None
    subject.world.store.update({**standalone, "status": {"phase": "Bound"}})
    if not is_enabled:
        subject.world.server.stored = without_attributes_class
    before = {pod["metadata"]["uid"] for pod in subject.world.store.of_kind("Pod")}
    observer.act(Edit("attributes_class", "fast", "brokers"))
    observer.converge()
    found = {each["spec"].get(FIELD) for each in subject.world.store.of_kind("PersistentVolumeClaim")}
    assert found == ({"fast"} if is_enabled else {None})
    assert {pod["metadata"]["uid"] for pod in subject.world.store.of_kind("Pod")} == before
    report = subject.run()
    assert report is not None
    found = [warning for warning in report.warnings if FIELD in warning]
    names = {each["metadata"]["name"] for each in subject.world.store.of_kind("PersistentVolumeClaim")}
    assert {name for name in names if any(name in warning for warning in found)} == (set() if is_enabled else names)
    subject.world.server.stored = store_all
    observer.converge()
    assert {each["spec"].get(FIELD) for each in subject.world.store.of_kind("PersistentVolumeClaim")} == {"fast"}
