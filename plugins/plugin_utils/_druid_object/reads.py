# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the reconcile of a resource can read, in Kubernetes and in Druid, which is connected when it is first asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names as cluster_names
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.options import Options, druid_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import DruidObject
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import Surroundings
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, TooDeep
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Druid
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads


def surroundings(reads: Reads, kind: str, resource: DruidObject, secrets: tuple[SecretKey, ...]) -> dict[str, Any]:
    """Return the fields of `Surroundings`; `secrets` are those with permission."""
    cluster = reads.get(cluster_names.KIND, resource.cluster) if resource.cluster else None
    return {
        "cluster": cluster,
        "services": _services(reads, cluster["metadata"]["name"]) if cluster else (),
        "secrets": {key: reads.get("Secret", key.name, key.namespace) for key in secrets},
        "siblings": tuple(map(type(resource).from_resource, _siblings(reads, kind, resource))),
    }


def _services(reads: Reads, cluster: str) -> tuple[Manifest, ...]:
    """Return the Services with the label of the cluster; none if the name is too long for a label."""
    if len(cluster) > cluster_names.MAX_LABEL_CHARACTERS:
        return ()
    return reads.list_objects("Service", f"{cluster_names.CLUSTER_LABEL}={cluster}")


def _siblings(reads: Reads, kind: str, resource: DruidObject) -> list[Manifest]:
    """Return the other resources of the namespace; none without the CRD."""
    listed: Iterable[Manifest]
    try:
        listed = reads.list_objects(kind)
    except TooDeep:
        listed = _one_by_one(reads, kind)
    except ApiError as error:
        if resource.uid is None and error.is_missing_kind:
            return []
        raise
    return [each for each in listed if each["metadata"]["name"] != resource.name]


def _one_by_one(reads: Reads, kind: str) -> list[Manifest]:
    """Return the readable resources: an unreadable one must not block all others of its namespace.

    It specifies nothing, like any invalid one; its own reconcile reports the problem.
    """
    found: list[Manifest | None] = []
    for name in reads.names(kind):
        with suppress(TooDeep):
            found.append(reads.get(kind, name))
    return [each for each in found if each is not None]


class DruidReads(Reads):
    """The reads of one reconcile. DruidError if Druid does not respond, or if the spec is invalid.

    `surround` reads the objects in Kubernetes. `druid` returns the client, which is connected when it is first used.
    """

    def __init__(
        self,
        api: KubernetesApi,
        namespace: str,
        surround: Callable[[Reads], Any],
        druid: Callable[[], DruidClient],
    ) -> None:
        super().__init__(api, namespace)
        self._surround = surround
        self._druid = druid
        # for the report, of a deletion that may read nothing
        self.observed: Any = Surroundings()

    def observe(self) -> Any:
        """Return the objects in Kubernetes, on which the connection to Druid depends."""
        self.observed = self.ask("objects", None, lambda: self._surround(self))
        return self.observed

    def connect(self) -> None:
        """Connect to Druid, without a request. ConnectionUnavailable names what is missing."""
        self._druid()

    def in_druid(self, question: str, about: Any, answer: Callable[[DruidClient], Any]) -> Any:
        """Return what Druid answers to a question about something."""
        return self.ask(question, about, lambda: answer(self._druid()))


_Reads = TypeVar("_Reads", bound=DruidReads)


@contextmanager
def reading_druid(
    create: Callable[[Callable[[], DruidClient]], _Reads], resource: DruidObject, options: Options
) -> Iterator[tuple[_Reads, Druid]]:
    """Yield the reader of a reconcile, and the client for its writes, which is disconnected from Druid at the end.

    `create` gets the function that connects to Druid.
    """
    with ExitStack() as connections:

        @cache
        def druid() -> DruidClient:
            details = druid_connection(reads, resource, reads.observe(), options)
            return connections.enter_context(connect(details, options.timeouts, options.meter))

        reads = create(druid)
        yield reads, lambda _purpose: druid()
