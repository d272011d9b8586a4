# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to the Druid of a cluster: its address, its Secrets, and the questions of a decision.

It imports the HTTP client, so it is imported by those functions that need Druid: most reconciles do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Protocol

from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    NO_ROUTER,
    NOT_CONNECTABLE,
    NOT_READY,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import router
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ask
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionDetails,
    author_limits,
    connect,
    connection_details,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import disallowed_secret, secrets_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads


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


def connected(reads: Reads, source: Source, options: Options, purpose: str) -> AbstractContextManager[Any]:
    """Return the connection to the Druid of a cluster. No request is sent to it. ConnectionUnavailable.

    `reads` gets its Secrets. `purpose` is what needs the connection, such as a field.
    """
    return _connected(_details(reads, source, options, purpose), options)


def ask_druid(inputs: Inputs, questions: tuple[Question[Any], ...], options: Options) -> dict[Question[Any], Any]:
    """Return the answers, or why there are none."""
    try:
        details = _details(inputs.reads, inputs, options, "The state of Druid")
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


def _details(reads: Reads, source: Source, options: Options, purpose: str) -> ConnectionDetails:
    cluster = source.cluster
    keys = secrets_of(cluster)
    refusal = disallowed_secret(keys, cluster.namespace, options.allowed_reference_namespaces)
    if refusal is not None:
        raise ConnectionUnavailable(refusal.reason, refusal.message)
    try:
        read = {key: reads.get("Secret", key.name, key.namespace) for key in keys}
        if options.url:
            return connection_details(cluster, options.url, read)
        url = cluster.endpoint.get("url") or _router(source, purpose)
        return connection_details(cluster, url, read, author_limits(reads, options))
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
