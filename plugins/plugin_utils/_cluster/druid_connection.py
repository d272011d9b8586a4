# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a cluster connects to its own Druid: its address, its Secrets, and the questions of a decision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Protocol

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import router
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ask
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionDetails,
    author_limits,
    connect,
    connection_details,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import (
    NO_ROUTER,
    NOT_CONNECTABLE,
    NOT_READY,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import disallowed_secret, secrets_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons

# What was read to connect: messages must not contain the values.
Secrets = dict[ReferenceKey, Manifest | None]


class Source(Protocol):
    """A cluster as it was read: the resource, what it specifies, and the live objects."""

    @property
    def resource(self) -> Manifest:
        """The resource, whose Services lead to its router."""

    @property
    def cluster(self) -> Cluster:
        """What it specifies."""

    @property
    def observed(self) -> Observed:
        """The live objects."""


def connected(
    api: KubernetesApi, source: Source, options: Options, secrets: Secrets, purpose: str
) -> AbstractContextManager[Any]:
    """Return the connection to the Druid of a cluster. No request is sent to it. ConnectionUnavailable.

    `purpose` is what needs it, such as a field. The Secrets that are read are added to `secrets`.
    """
    return _connected(_details(api, source, options, secrets, purpose), options)


def ask_druid(
    api: KubernetesApi, inputs: Inputs, questions: tuple[Question[Any], ...], options: Options, secrets: Secrets
) -> dict[Question[Any], Any]:
    """Return the answers, or why there are none. The Secrets that are read are added to `secrets`."""
    try:
        details = _details(api, inputs, options, secrets, "The state of Druid")
        is_own_router = options.url is None and not inputs.cluster.endpoint.get("url")
        unready = inputs.observed.unready_groups(inputs.cluster, (router.ROUTER,)) if is_own_router else []
        if unready:
            message = f"No pod of the router is ready (group {', '.join(unready)})."
            return dict.fromkeys(questions, Unavailable(NOT_READY, message))
        # The next reconcile is the retry.
        with _connected(details, replace(options, timeouts=replace(options.timeouts, retry_timeout=0))) as client:
            return ask(client, questions)
    except ConnectionUnavailable as error:
        is_missing = error.finding.reason == reasons.ROUTER_NOT_FOUND
        cause = NO_ROUTER if is_missing else NOT_CONNECTABLE
        return dict.fromkeys(questions, Unavailable(cause, error.finding.message))


@contextmanager
def _connected(details: ConnectionDetails, options: Options) -> Iterator[Any]:
    with ExitStack() as stack:
        try:
            client = stack.enter_context(connect(details, options.timeouts, options.meter))
        except DruidopsError as error:
            # The library requests is not installed.
            raise ConnectionUnavailable(reasons.DRUID_UNREACHABLE, str(error)) from error
        yield client


def _details(api: KubernetesApi, source: Source, options: Options, secrets: Secrets, purpose: str) -> ConnectionDetails:
    cluster = source.cluster
    keys = secrets_of(cluster)
    refusal = disallowed_secret(keys, cluster.namespace, options.allowed_reference_namespaces)
    if refusal is not None:
        raise ConnectionUnavailable(refusal.reason, refusal.message)
    try:
        read = {key: api.get("Secret", key.namespace, key.name) for key in keys}
        secrets.update({ReferenceKey("Secret", key.namespace, key.name): live for key, live in read.items()})
        if options.url:
            return connection_details(cluster, options.url, read)
        url = cluster.endpoint.get("url") or _router(source, purpose)
        return connection_details(cluster, url, read, author_limits(api, options))
    except KubernetesError as error:
        raise ConnectionUnavailable(reasons.OBSERVE_FAILED, str(error)) from error


def _router(source: Source, purpose: str) -> str:
    try:
        return router.address(
            source.resource,
            source.observed.of_kind("Service"),
            prefers_tls="caSecretRef" in source.cluster.endpoint,
            remedy="set the address of Druid (spec.endpoint.url, or the option url of this task)",
        )
    except router.RouterNotFound as error:
        raise ConnectionUnavailable(reasons.ROUTER_NOT_FOUND, f"{purpose}: {error}") from error
