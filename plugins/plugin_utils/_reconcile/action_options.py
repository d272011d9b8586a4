# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that the reconcile actions of both kinds have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import (
    from_document,
    namespace_of,
    plain,
    read_file,
)

DEFAULT_NAMESPACE = "default"

OPTIONS: Mapping[str, Any] = {
    "name": {"type": "str"},
    "namespace": {"type": "str"},
    "resource": {"type": "raw"},
    "spec": {"type": "dict"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 600},
    "wait_sleep": {"type": "int", "default": 2},
    "allowed_reference_namespaces": {"type": "list", "elements": "str", "default": []},
    "fail_when_blocked": {"type": "bool", "default": True},
    "log": {"type": "str"},
    "cache_kubeconfig": {"type": "str"},
    "metrics_url": {"type": "str"},
    "metrics_namespaces": {"type": "list", "elements": "str", "default": []},
}
CONSTRAINTS: Mapping[str, Any] = {
    "required_one_of": [("name", "resource")],
    "mutually_exclusive": [("resource", "spec")],
}


@dataclass(frozen=True)
class BaseRequest:
    """A resource (by name, by document, or by spec) and what to do with it. Times are in seconds."""

    name: str
    namespace: str
    resource: Manifest | None = None
    spec: Mapping[str, Any] | None = None
    without_resource: bool = False
    absent: bool = False
    wait: bool = False
    wait_timeout: int = 600
    wait_sleep: int = 2


def parse_options(kind: str, arguments: Mapping[str, Any], find_file: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields of a request from the arguments; InvalidResource if `resource` is not a resource."""
    resource, spec = plain(arguments["resource"]), plain(arguments["spec"])
    if isinstance(resource, str):
        resource = read_file(Path(find_file(resource)))
    if resource is not None:
        namespace = arguments["namespace"] or namespace_of(resource) or DEFAULT_NAMESPACE
        resource = from_document(kind, resource, arguments["name"], namespace)
    return {
        "name": resource["metadata"]["name"] if resource else arguments["name"],
        "namespace": resource["metadata"]["namespace"] if resource else arguments["namespace"] or DEFAULT_NAMESPACE,
        "resource": resource,
        "spec": spec,
        "without_resource": spec is not None,
        "absent": arguments["state"] == "absent",
        "wait": arguments["wait"],
        "wait_timeout": arguments["wait_timeout"],
        "wait_sleep": arguments["wait_sleep"],
    }


def read_resource(api: KubernetesApi, kind: str, task: BaseRequest, variable: str) -> Manifest:
    """Return the named resource. ResourceNotFound names the role variable that can contain it."""
    resource = api.get(kind, task.namespace, task.name)
    if resource is None:
        raise ResourceNotFound(
            f"There is no {kind} {task.name} in namespace {task.namespace}. "
            f"Create it, or set {variable} to its file or mapping."
        )
    return resource
