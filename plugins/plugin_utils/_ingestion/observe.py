# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects in Kubernetes that an ingestion depends on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names as cluster_names
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, TooDeep
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


@dataclass(frozen=True)
class Observed:
    """The last applied record, the Druid resource with its Services, the Secrets, the other ingestions."""

    record: Manifest | None = None
    cluster: Manifest | None = None
    services: tuple[Manifest, ...] = ()
    secrets: Mapping[SecretKey, Manifest | None] = field(default_factory=dict, repr=False)
    siblings: tuple[Ingestion, ...] = ()


def observe(api: KubernetesApi, ingestion: Ingestion, secrets: tuple[SecretKey, ...]) -> Observed:
    """Read all of them; `secrets` are those with permission."""
    namespace = ingestion.namespace
    cluster = api.get(cluster_names.KIND, namespace, ingestion.cluster) if ingestion.cluster else None
    return Observed(
        record=api.get("ConfigMap", namespace, names.record_name(ingestion.name)),
        cluster=cluster,
        services=tuple(_services(api, namespace, cluster["metadata"]["name"])) if cluster else (),
        secrets={key: api.get("Secret", key.namespace, key.name) for key in secrets},
        siblings=tuple(map(Ingestion.from_resource, _siblings(api, ingestion))),
    )


def _services(api: KubernetesApi, namespace: str, cluster: str) -> list[Manifest]:
    """Return the Services with the label of the cluster; none if the name is too long for a label."""
    if len(cluster) > cluster_names.MAX_LABEL_CHARACTERS:
        return []
    return api.list_objects("Service", namespace, f"{cluster_names.CLUSTER_LABEL}={cluster}")


def _siblings(api: KubernetesApi, ingestion: Ingestion) -> list[Manifest]:
    """Return the other resources of the namespace; none without the CRD."""
    try:
        listed = api.list_objects(names.KIND, ingestion.namespace)
    except TooDeep:
        listed = _one_by_one(api, ingestion.namespace)
    except ApiError as error:
        if ingestion.uid is None and error.is_missing_kind:
            return []
        raise
    return [each for each in listed if each["metadata"]["name"] != ingestion.name]


def _one_by_one(api: KubernetesApi, namespace: str) -> list[Manifest]:
    """Return the readable resources: an unreadable one must not block all others of its namespace.

    It specifies no supervisor, like any invalid one; its own reconcile reports the problem.
    """
    found: list[Manifest | None] = []
    for name in api.list_names(names.KIND, namespace):
        with suppress(TooDeep):
            found.append(api.get(names.KIND, namespace, name))
    return [each for each in found if each is not None]
