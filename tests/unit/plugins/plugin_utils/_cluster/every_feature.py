# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All objects of the table of features, for the tests of comparisons."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import (
    FEATURES,
    resource,
)

Manifest = dict[str, Any]
Path = tuple[str | int, ...]

# The identity of an object: another value is another object.
ADDRESS: set[Path] = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}


def manifests() -> dict[str, Manifest]:
    """Return the distinct objects of all cases, by case, kind and name."""
    found: dict[str, Manifest] = {}
    for case in FEATURES:
        for manifest in render(Cluster.from_resource(resource(case))).objects:
            if manifest not in found.values():
                found[f"{case.name}: {manifest['kind']} {manifest['metadata']['name']}"] = manifest
    return found


def leaves(value: Any, *above: str | int) -> list[Path]:
    """Return the paths of all scalars and of empty mappings and lists."""
    if isinstance(value, dict) and value:
        return [path for name, child in value.items() for path in leaves(child, *above, name)]
    if isinstance(value, list) and value:
        return [path for index, child in enumerate(value) for path in leaves(child, *above, index)]
    return [above]


def changed(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    return {"other": "x"} if isinstance(value, dict) else ["x"]


def with_change(manifest: Manifest, path: Path) -> Manifest:
    """Return the object with another value at the path."""
    return _with(manifest, path, changed(at(manifest, path)))


def at(manifest: Any, path: Path) -> Any:
    """Return the value at the path."""
    for step in path:
        manifest = manifest[step]
    return manifest


def _with(container: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    step, *rest = path
    copy = container.copy()
    copy[step] = _with(container[step], tuple(rest), value)
    return copy


MANIFESTS = manifests()
