# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the resource of a run comes from: a file, a mapping, or variables; and how it gets into the cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.module_utils._values import yaml_loader
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KINDS, KubernetesApi, Manifest


class BadResource(DruidopsError):
    """What was given is no resource that could be sent to a cluster."""


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
        return yaml_loader.load(text)
    except yaml_loader.InvalidYaml as error:
        raise BadResource(f"resource: {path} is neither JSON nor YAML: {error}.") from error


def from_document(kind: str, document: Any, name: str | None, namespace: str | None) -> Manifest:
    """Return a resource of the kind with name and namespace; BadResource says what it lacks."""
    if not isinstance(document, Mapping):
        raise BadResource(f"resource: a mapping is needed, not {type(document).__name__}.")
    stated, wanted = (document.get("apiVersion"), document.get("kind")), (KINDS[kind].api_version, kind)
    if stated != wanted:
        raise BadResource(
            f"resource: it is {stated[1]} in {stated[0]}; one resource of kind {wanted[1]} in {wanted[0]} is needed."
        )
    metadata = document.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise BadResource(f"resource: metadata has to be a mapping, not {type(metadata).__name__}.")
    for field in ("labels", "annotations"):
        found = metadata.get(field)
        if not isinstance(found, Mapping | None):
            raise BadResource(f"resource: metadata.{field} has to be a mapping, not {type(found).__name__}.")
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


def from_spec(kind: str, spec: Mapping[str, Any], name: str, namespace: str) -> tuple[Manifest, tuple[str, ...]]:
    """Return a resource made of variables, defaulted as by the API server, and a warning per unknown field."""
    from ansible_collections.druidops.druid.plugins.plugin_utils import _schema

    result = _schema.apply(_schema.spec_of(kind), dict(spec), "spec")
    if result.errors:
        raise BadResource(f"{kind} {name} is invalid: " + "; ".join(str(error) for error in result.errors))
    resource = {
        "apiVersion": KINDS[kind].api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": result.value,
    }
    return resource, tuple(f"unknown field {path}: it is left out{_meant(kind, path)}" for path in result.pruned)


# The API server's words.
_UNKNOWN_FIELD = re.compile(r'unknown field "(spec\.[^"]+)"')


def _with_nearest_field(kind: str, warning: str) -> str:
    """Return the API server's warning; one about an unknown field of the spec with the one that may have been meant."""
    unknown = _UNKNOWN_FIELD.fullmatch(warning)
    return f"{warning}{_meant(kind, unknown.group(1))}" if unknown else warning


def _meant(kind: str, path: str) -> str:
    """Return a question after the known field that is most like the unknown one at the path; nothing without one."""
    from ansible_collections.druidops.druid.plugins.plugin_utils import _schema

    nearest = _schema.nearest_field(_schema.spec_of(kind), path.removeprefix("spec."))
    return f" (did you mean {nearest}?)" if nearest else ""


@dataclass(frozen=True)
class Submitted:
    """A resource as the server has it now, as it was before, and what was done to it."""

    stored: Manifest
    live: Manifest | None = None
    operation: Literal["create", "update"] | None = None


def submit(api: KubernetesApi, resource: Manifest, check_mode: bool) -> Submitted:
    """Create the resource, or bring the live one to what is stated; in check mode by dry run."""
    submitted = _submitted(api, resource, check_mode)
    if api.warnings:
        # A field that the server does not know is dropped: a typo in replicas leaves a group without pods.
        api.warnings[:] = (_with_nearest_field(resource["kind"], text) for text in api.warnings)
    return submitted


def _submitted(api: KubernetesApi, resource: Manifest, check_mode: bool) -> Submitted:
    metadata = resource["metadata"]
    live = api.get(resource["kind"], metadata["namespace"], metadata["name"])
    if live is None:
        return Submitted(api.create(resource, dry_run=check_mode), operation="create")
    wanted = _over(live, resource)
    after = api.replace(wanted, dry_run=True)
    if _stated(after) == _stated(live):
        return Submitted(live, live)
    return Submitted(after if check_mode else api.replace(wanted), live, "update")


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


def plain(value: Any) -> Any:
    """Return what a playbook states as JSON knows it: Ansible marks values with their origin, and YAML has dates."""
    return json.loads(json.dumps(_with_plain_keys(value), default=str))


def _with_plain_keys(value: Any) -> Any:
    """Return the value with keys that JSON takes for texts: it refuses a date, which YAML makes of 2026-01-01."""
    if isinstance(value, Mapping):
        return {_plain_key(key): _with_plain_keys(one) for key, one in value.items()}
    return [_with_plain_keys(one) for one in value] if isinstance(value, list | tuple) else value


def _plain_key(key: Any) -> Any:
    return key if isinstance(key, str | int | float | None) else str(key)


def stated_namespace(resource: Any) -> str | None:
    """Return the namespace that a resource names, if it is one and does."""
    metadata = resource.get("metadata") if isinstance(resource, Mapping) else None
    return metadata.get("namespace") if isinstance(metadata, Mapping) else None
