# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The environment of the operator: only this file reads its variables, and only for tasks with `operator: true`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import seconds_of

# What the environment sets that is no option; outside of the operator it is not set.
_WITHOUT: Mapping[str, Any] = {
    "cache_kubeconfig": "",
    "log": "",
    "metrics_url": "",
    "metrics_namespaces": (),
    "ignored_namespaces": (),
    "unfinished": "",
}
# Options of the actions, and the variables that set them, if they are not empty.
_LISTS: Mapping[str, str] = {
    "allowed_reference_namespaces": "ALLOWED_REFERENCE_NAMESPACES",
    "allowed_endpoint_hosts": "ALLOWED_ENDPOINT_HOSTS",
    "allowed_tenant_namespaces": "ALLOWED_TENANT_NAMESPACES",
    "allowed_chart_repositories": "ALLOWED_CHART_REPOSITORIES",
}
_TEXTS: Mapping[str, str] = {
    "kubeconfig": "DRUIDOPS_KUBECONFIG",
    "helm_registry_config": "HELM_REGISTRY_CONFIG",
    "tenant_service_account": "TENANT_SERVICE_ACCOUNT",
}
# The kubeconfig of its cache, from ansible-operator.
# Why the last run for this resource did not end by itself; not set, or empty, if it did (build/runner).
UNFINISHED = "DRUIDOPS_UNFINISHED"
CACHE = "K8S_AUTH_KUBECONFIG"
# ansible-operator accepts metrics at this address; the port is fixed.
_METRICS_URL = "http://localhost:5050/metrics"
# The period of the image.
_PERIOD_SECONDS = 60.0
_PENDING = "DRUIDOPS_PENDING_RUN"
# The author of a resource cannot have it reconciled more often than after this time in seconds.
LEAST_PERIOD_SECONDS = 10
PERIOD = "ansible.sdk.operatorframework.io/reconcile-period"


def with_environment(arguments: Mapping[str, Any], environment: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the arguments of a task, those of the operator with what its environment sets."""
    if not arguments["operator"]:
        return {**arguments, **_WITHOUT}
    lists = {option: listed for option, name in _LISTS.items() if (listed := _listed(environment.get(name)))}
    texts = {option: environment[name] for option, name in _TEXTS.items() if environment.get(name)}
    return {
        **arguments,
        **lists,
        **texts,
        **({"allow_cluster_scoped_objects": True} if _is_true(environment, "ALLOW_CLUSTER_SCOPED_OBJECTS") else {}),
        # The authors of resources set addresses, and ansible-operator's proxy here has the operator's permissions.
        "refuse_own_host": not _is_true(environment, "ALLOW_OWN_HOST"),
        "fail_when_blocked": False,
        # No text of a resource, which ansible-operator passes as variables, chooses a file of its pod.
        "fail_on": "never",
        "plan_files": [],
        "cache_kubeconfig": environment.get(CACHE, ""),
        "log": environment.get("DRUIDOPS_LOG", ""),
        "metrics_url": environment.get("DRUIDOPS_METRICS_URL", _METRICS_URL),
        "period": seconds_of(environment.get("RECONCILE_WAIT", "")) or _PERIOD_SECONDS,
        "metrics_namespaces": _listed(environment.get("WATCH_NAMESPACE")),
        "ignored_namespaces": _listed(environment.get("DENY_LIST")),
        "unfinished": environment.get(UNFINISHED, ""),
    }


def of_server(environment: Mapping[str, str], *, is_operator: bool) -> dict[str, str]:
    """Return the environment for connections to the API server: that of the operator without its cache."""
    return {name: value for name, value in environment.items() if not (is_operator and name == CACHE)}


def report_start() -> None:
    """Tell the readiness probe of the operator's pod (build/ready.py) that runs start."""
    if pending := os.environ.get(_PENDING):
        with suppress(OSError):
            os.unlink(pending)


def is_too_often(annotations: Mapping[str, str]) -> bool:
    """Return whether the annotations of a resource request a shorter period than the least one."""
    return 0 < seconds_of(annotations.get(PERIOD, "").removeprefix("+")) < LEAST_PERIOD_SECONDS


def _listed(value: str | None) -> tuple[str, ...]:
    return tuple(name for name in map(str.strip, (value or "").split(",")) if name)


def _is_true(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name) == "true"
