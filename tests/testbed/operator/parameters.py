# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables that a run is given (ansible-playbook's -e)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .snake_case import snake_case_keys
from .watches import Watch


def parameters(watch: Watch, resource: Mapping[str, Any], *, finalizing: bool) -> dict[str, Any]:
    """The fields of the spec, the whole resource and its spec, and the watch's own variables, which win."""
    spec = resource.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    mark = mark_unsafe if watch.mark_unsafe else _as_it_is
    name = variable_of(watch)
    metadata = resource["metadata"]
    fields = snake_case_keys(spec) if watch.snake_case_parameters else spec
    return {
        **{key: mark(value) for key, value in fields.items()},
        "ansible_operator_meta": {"name": metadata["name"], "namespace": metadata.get("namespace", "")},
        name: mark(dict(resource)),
        f"{name}_spec": mark(spec),
        **watch.vars,
        **(watch.finalizer.vars if finalizing and watch.finalizer else {}),
    }


def variable_of(watch: Watch) -> str:
    """The name of the variable with the whole resource, such as _druid_apache_org_druid."""
    return f"_{watch.kind.group}_{watch.kind.kind.lower()}".replace(".", "_").replace("-", "_")


def mark_unsafe(value: Any) -> Any:
    """The value with every string, but no name of a field, marked as one that Ansible does not evaluate."""
    if isinstance(value, dict):
        return {key: mark_unsafe(each) for key, each in value.items()}
    if isinstance(value, list):
        return [mark_unsafe(each) for each in value]
    return {"__ansible_unsafe": value} if isinstance(value, str) else value


def _as_it_is(value: Any) -> Any:
    return value
