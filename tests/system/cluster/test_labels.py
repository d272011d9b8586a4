# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Labels that GitOps tools use: Argo CD deletes objects that have the label of an application, and no owner."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.in_process import connection, one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    CREATED_KINDS,
    Manifest,
    NamespaceClient,
)

INSTANCE = "app.kubernetes.io/instance"
CLAIM = "PersistentVolumeClaim"


def labelled(live: NamespaceClient) -> set[tuple[str, str]]:
    """Return the objects that carry the label."""
    return {(kind, each["metadata"]["name"]) for kind in CREATED_KINDS for each in live.list(kind) if instance(each)}


def instance(found: Manifest) -> str | None:
    label: str | None = (found["metadata"].get("labels") or {}).get(INSTANCE)
    return label


def test_object_without_owner_has_no_instance_label(live: NamespaceClient) -> None:
    live.create(all_kinds_cluster.resource())
    until_ready(live, "wiki")
    owned = {
        (kind, each["metadata"]["name"])
        for kind in CREATED_KINDS
        for each in live.list(kind)
        if any(owner["kind"] == "Druid" for owner in each["metadata"].get("ownerReferences") or ())
    }
    assert (CLAIM, "druid-wiki-routers") in live.created_objects() - owned
    assert labelled(live) == owned


def test_cluster_without_resource_has_no_instance_label(live: NamespaceClient) -> None:
    until_ready(live, "wiki", spec=all_kinds_cluster.spec(), without_resource=True)
    assert labelled(live) == set()


def test_instance_label_is_removed_from_pvcs(live: NamespaceClient) -> None:
    live.create(all_kinds_cluster.resource())
    until_ready(live, "wiki")
    found = live.get(CLAIM, "druid-wiki-routers")
    metadata = {"name": "druid-wiki-routers", "namespace": live.namespace}
    labels = {**found["metadata"]["labels"], INSTANCE: "wiki"}
    spec = all_kinds_cluster.claim()
    connection(live).apply(
        {"apiVersion": "v1", "kind": CLAIM, "metadata": {**metadata, "labels": labels}, "spec": spec}
    )
    assert instance(live.get(CLAIM, "druid-wiki-routers")) == "wiki"
    assert one_pass(live, "wiki").changed
    after = live.get(CLAIM, "druid-wiki-routers")
    assert after["metadata"]["labels"] == found["metadata"]["labels"]
    assert after["metadata"]["uid"] == found["metadata"]["uid"]
    assert not one_pass(live, "wiki").changed
