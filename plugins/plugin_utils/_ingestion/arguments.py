# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the action `ingestion`, and the request that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._given import (
    from_document,
    plain,
    read_file,
    stated_namespace,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.access import Patience
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.settings import Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter

DEFAULT_NAMESPACE = "default"

INGESTION: Mapping[str, Any] = {
    "name": {"type": "str"},
    "namespace": {"type": "str"},
    "resource": {"type": "raw"},
    "spec": {"type": "dict"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "url": {"type": "str"},
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 600},
    "wait_sleep": {"type": "int", "default": 2},
    "read_timeout": {"type": "float", "default": 120.0},
    "retry_timeout": {"type": "float", "default": 30.0},
    "reference_namespaces": {"type": "list", "elements": "str", "default": []},
    "fail_on_problem": {"type": "bool", "default": True},
    "log": {"type": "str"},
    "cache_kubeconfig": {"type": "str"},
    "metrics_url": {"type": "str"},
}
CONSTRAINTS: dict[str, Any] = {
    "required_one_of": [("name", "resource")],
    "mutually_exclusive": [("resource", "spec")],
}


def to_request(
    arguments: Mapping[str, Any], check_mode: bool, find_file: Callable[[str], str], meter: Meter
) -> Request:
    """Return what the task asks for; BadResource when the resource given is none."""
    resource, spec = plain(arguments["resource"]), plain(arguments["spec"])
    if isinstance(resource, str):
        resource = read_file(Path(find_file(resource)))
    if resource is not None:
        namespace = arguments["namespace"] or stated_namespace(resource) or DEFAULT_NAMESPACE
        resource = from_document(names.KIND, resource, arguments["name"], namespace)
    return Request(
        name=resource["metadata"]["name"] if resource else arguments["name"],
        namespace=resource["metadata"]["namespace"] if resource else arguments["namespace"] or DEFAULT_NAMESPACE,
        resource=resource,
        spec=spec,
        by_variable=spec is not None,
        absent=arguments["state"] == "absent",
        wait=arguments["wait"],
        wait_timeout=arguments["wait_timeout"],
        wait_sleep=arguments["wait_sleep"],
        settings=Settings(
            check_mode,
            tuple(arguments["reference_namespaces"]),
            arguments["url"],
            Patience(arguments["read_timeout"], arguments["retry_timeout"]),
            meter,
        ),
    )
