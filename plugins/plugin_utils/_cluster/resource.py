# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the Druid resource of a run comes from: a file, a mapping, or variables; and how it gets into the cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils import _yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest


class BadResource(DruidopsError):
    """What was given is no Druid resource that could be sent to a cluster."""


def read_file(path: Path) -> Any:
    """Return the document in a JSON or YAML file, every text as it stands there: nothing is a template."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadResource(f"resource: cannot read {path}: {error}. Give the path of a readable UTF-8 file.") from error
    document = _parse(text, path)
    if document is None:
        raise BadResource(f"resource: {path} is empty.")
    try:
        json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadResource(f"resource: {path} holds something that JSON cannot express: {error}") from error
    return document


def _parse(text: str, path: Path) -> Any:
    try:
        # First as JSON: YAML folds U+0085 and its like inside quotes, JSON keeps them.
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return _yaml.load(text)
    except _yaml.NotYaml as error:
        raise BadResource(f"resource: {path} is neither JSON nor YAML: {error}.") from error


def from_document(document: Any, name: str | None, namespace: str | None) -> Manifest:
    """Return a Druid resource with name and namespace; BadResource says what it lacks."""
    if not isinstance(document, Mapping):
        raise BadResource(f"resource: a mapping is needed, not {type(document).__name__}.")
    api_version, kind = document.get("apiVersion"), document.get("kind")
    if (api_version, kind) != (names.API_VERSION, names.KIND):
        raise BadResource(
            f"resource: it is {kind} in {api_version}; "
            f"one resource of kind {names.KIND} in {names.API_VERSION} is needed."
        )
    metadata = document.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise BadResource(f"resource: metadata has to be a mapping, not {type(metadata).__name__}.")
    named = _agreed("name", metadata.get("name"), name)
    placed = _agreed("namespace", metadata.get("namespace"), namespace)
    return {**document, "metadata": {**metadata, "name": named, "namespace": placed}}


def _agreed(what: str, stated: Any, option: str | None) -> str:
    if not isinstance(stated, str | None):
        raise BadResource(f"resource: metadata.{what} has to be a text, not {stated!r}. Put it between quotes.")
    if stated and option and stated != option:
        raise BadResource(f"resource: metadata.{what} is {stated}, but the option {what} says {option}. Leave one out.")
    if not (stated or option):
        raise BadResource(f"resource: metadata.{what} is missing, and the option {what} is not set, either.")
    return stated or option or ""


def from_spec(spec: Mapping[str, Any], name: str, namespace: str) -> tuple[Manifest, tuple[str, ...]]:
    """Return a resource made of variables, defaulted as by the API server, and a warning per unknown field."""
    from ansible_collections.druidops.druid.plugins.plugin_utils import _schema

    result = _schema.apply(_schema.druid_spec(), dict(spec), "spec")
    if result.errors:
        raise BadResource(f"Druid {name} is invalid: " + "; ".join(str(error) for error in result.errors))
    resource = {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": result.value,
    }
    return resource, tuple(f"unknown field {path}: it is left out" for path in result.pruned)


def submit(api: KubernetesApi, resource: Manifest, check_mode: bool) -> tuple[Manifest, tuple[Step, ...]]:
    """Create the resource, or bring the live one to what is stated; return it as the server has it, and the step."""
    metadata = resource["metadata"]
    live = api.get(names.KIND, metadata["namespace"], metadata["name"])
    if live is None:
        stored = api.create(resource, dry_run=check_mode)
        return stored, (Step("create", resource, after=stored),)
    wanted = _over(live, resource)
    after = api.replace(wanted, dry_run=True)
    if _stated(after) == _stated(live):
        return live, ()
    stored = after if check_mode else api.replace(wanted)
    return stored, (Step("update", resource, live=live, after=stored),)


def _over(live: Manifest, resource: Manifest) -> Manifest:
    """The spec is as stated, whole; labels and annotations of others, finalizers and status stay."""
    metadata = dict(live["metadata"])
    for name in ("labels", "annotations"):
        stated = resource["metadata"].get(name)
        if stated:
            metadata[name] = {**(metadata.get(name) or {}), **stated}
    return {**live, "metadata": metadata, "spec": resource.get("spec")}


def _stated(live: Manifest) -> tuple[Any, ...]:
    metadata = live["metadata"]
    return live.get("spec"), metadata.get("labels") or {}, metadata.get("annotations") or {}
