# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask the Druid of a cluster what a decision needs, and carry out the steps that write to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.dynamic_config import unready_routers
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_access import (
    DruidAccess,
    Secrets,
    druid_access,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import state
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.ask import ask
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionDetails,
    ConnectionUnavailable,
    connect,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.state import Question, Unavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

_PURPOSE = "The state of Druid"


def ask_druid(
    api: KubernetesApi, inputs: Inputs, questions: tuple[Question[Any], ...], options: Options
) -> tuple[dict[Question[Any], Any], Secrets]:
    """Return the answers, and the Secrets of the connection, which messages must not contain."""
    access = druid_access(api, inputs.resource, inputs.cluster, inputs.observed, options, _PURPOSE)
    return _answers(access, questions, inputs, options), access.secrets


def write_to_druid(
    api: KubernetesApi,
    resource: Manifest,
    cluster: Cluster,
    observed: Observed,
    options: Options,
    purpose: str,
    write: Callable[[Any], Finding | None],
) -> Finding | None:
    """Write to Druid; return a finding if that fails. `purpose` is what needs the connection."""
    found = druid_access(api, resource, cluster, observed, options, purpose).found
    if isinstance(found, Finding):
        return found
    try:
        with connect(found, options.timeouts, options.meter) as client:
            return write(client)
    except ConnectionUnavailable as error:
        return error.finding
    except DruidopsError as error:
        return Finding(reasons.DRUID_UNREACHABLE, str(error))


def _answers(
    access: DruidAccess, questions: tuple[Question[Any], ...], inputs: Inputs, options: Options
) -> dict[Question[Any], Any]:
    if isinstance(access.found, Finding):
        return dict.fromkeys(questions, _without_connection(access.found))
    is_own_router = options.url is None and not inputs.cluster.endpoint.get("url")
    unready = unready_routers(inputs.cluster, inputs.live) if is_own_router else []
    if unready:
        message = f"No pod of the router is ready (group {', '.join(unready)})."
        return dict.fromkeys(questions, Unavailable(state.NOT_READY, message))
    return _asked(access.found, questions, options)


def _asked(
    found: ConnectionDetails, questions: tuple[Question[Any], ...], options: Options
) -> dict[Question[Any], Any]:
    # The next reconcile is the retry.
    timeouts = replace(options.timeouts, retry_timeout=0)
    try:
        with connect(found, timeouts, options.meter) as client:
            return ask(client, questions)
    except ConnectionUnavailable as error:
        return dict.fromkeys(questions, _without_connection(error.finding))
    except DruidopsError as error:
        # The library requests is not installed.
        return dict.fromkeys(questions, Unavailable(state.NOT_CONNECTABLE, str(error)))


def _without_connection(finding: Finding) -> Unavailable:
    cause = state.NO_ROUTER if finding.reason == reasons.ROUTER_NOT_FOUND else state.NOT_CONNECTABLE
    return Unavailable(cause, finding.message)
