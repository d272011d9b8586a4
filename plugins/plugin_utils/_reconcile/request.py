# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The request of one task, and the options that the reconcile actions of all kinds have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter, PhaseTimer
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import (
    from_document,
    namespace_of,
    plain,
    read_file,
    read_spec,
    select_document,
)

DEFAULT_NAMESPACE = "default"
# On which planned changes a task fails.
NEVER, CHANGES, DESTRUCTIVE = "never", "changes", "destructive"

ARGUMENTS: Mapping[str, Any] = {
    "name": {"type": "str"},
    "namespace": {"type": "str"},
    "resource": {"type": "raw"},
    "spec": {"type": "raw"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 600},
    "wait_sleep": {"type": "int", "default": 2},
    "allowed_reference_namespaces": {"type": "list", "elements": "str", "default": []},
    "refuse_own_host": {"type": "bool", "default": False},
    "fail_when_blocked": {"type": "bool", "default": True},
    "fail_on": {"type": "str", "choices": [NEVER, CHANGES, DESTRUCTIVE], "default": NEVER},
    "plan_files": {"type": "list", "elements": "path", "default": []},
    "operator": {"type": "bool", "default": False},
    "ignored_variables": {"type": "list", "elements": "str"},
}
CONSTRAINTS: Mapping[str, Any] = {
    "required_one_of": [("name", "resource")],
    "mutually_exclusive": [("resource", "spec")],
}


@dataclass(frozen=True)
class Options:
    """Options of a reconcile: `check_mode` stops before the first write. Kinds add their own.

    `allowed_reference_namespaces` are other namespaces that references may use. `url` is the address of Druid instead
    of the one in the resource; credentials are sent there. With `refuse_own_host`, the latter must not point to the
    host where the task runs. Those of Secrets are sent to the latter if its host is one of the
    `allowed_endpoint_hosts`, or if the Secret permits it. `meter` measures time, and counts requests.
    """

    check_mode: bool = False
    allowed_reference_namespaces: tuple[str, ...] = ()
    allowed_endpoint_hosts: tuple[str, ...] = ()
    url: str | None = None
    refuse_own_host: bool = False
    meter: Meter = field(default_factory=Meter, compare=False, kw_only=True)

    @property
    def phases(self) -> PhaseTimer:
        return self.meter.phases


_Options = TypeVar("_Options", bound=Options)


@dataclass(frozen=True)
class Request(Generic[_Options]):
    """A resource (by name, by document, or by spec) and what to do with it. Times are in seconds.

    With `wait_for_recovery`, a wait goes on although the resource will not reach its desired state by itself.
    `fail_on`: the task of a plan with such changes fails.

    With `is_default_namespace`, neither the option nor the document has a namespace. `not_applied` is a message about
    the other documents of the file, empty without any.
    """

    name: str
    namespace: str
    options: _Options
    resource: Manifest | None = None
    spec: Mapping[str, Any] | None = None
    without_resource: bool = False
    absent: bool = False
    wait: bool = False
    wait_timeout: float = 600
    wait_sleep: float = 2
    wait_for_recovery: bool = False
    fail_on: str = NEVER
    is_default_namespace: bool = False
    not_applied: str = ""

    @property
    def waits(self) -> bool:
        """True when the task waits: a plan in check mode does not."""
        return self.wait and not self.options.check_mode


def to_request(
    kind: str, arguments: Mapping[str, Any], options: _Options, find_file: Callable[[str], str]
) -> Request[_Options]:
    """Return the request of a task from its arguments; InvalidResource if it does not describe a resource."""
    resource, spec = plain(arguments["resource"]), read_spec(arguments["spec"])
    if isinstance(resource, str):
        resource = read_file(Path(find_file(resource)))
    not_applied = ""
    if resource is not None:
        resource, not_applied = select_document(kind, resource, arguments["name"], arguments["namespace"])
    specified = arguments["namespace"] or namespace_of(resource)
    namespace = specified or DEFAULT_NAMESPACE
    if resource is not None:
        resource = from_document(kind, resource, arguments["name"], namespace)
    return Request(
        name=resource["metadata"]["name"] if resource else arguments["name"],
        namespace=resource["metadata"]["namespace"] if resource else namespace,
        options=options,
        resource=resource,
        spec=spec,
        without_resource=spec is not None or (arguments.get("without_resource", False) and resource is None),
        absent=arguments["state"] == "absent",
        wait=arguments["wait"],
        wait_timeout=arguments["wait_timeout"],
        wait_sleep=arguments["wait_sleep"],
        wait_for_recovery=arguments.get("wait_for_recovery", False),
        fail_on=arguments["fail_on"],
        is_default_namespace=not specified,
        not_applied=not_applied,
    )


def read_resource(api: KubernetesApi, kind: str, request: Request[Any], variable: str) -> Manifest:
    """Return the named resource. ResourceNotFound names the role variable that can contain it."""
    resource = api.get(kind, request.namespace, request.name)
    if resource is None:
        raise ResourceNotFound(
            f"There is no {kind} {request.name} in namespace {request.namespace}. "
            f"Create it, or set {variable} to its file or mapping."
        )
    return resource
