# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A custom resource: what each has; how a file, a mapping or variables provide it, and how it is submitted.

A part of another type than expected counts as not set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from ansible_collections.druidops.druid.plugins.module_utils._values import parse
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    UNPROCESSABLE,
    ApiError,
    DruidopsError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi

# What the API server, a controller and kubectl write: an exported resource has it. An owner is named by its uid: the
# garbage collector deletes an object whose owner does not exist.
_NOT_SPECIFIED = frozenset(
    {
        *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields"),
        *("ownerReferences", "resourceVersion", "selfLink", "uid"),
    }
)
# An earlier state of these would be taken for the present one.
_ANNOTATIONS_NOT_SPECIFIED = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        *("druid.apache.org/deletes-pvcs", "druid.apache.org/submitted"),
    }
)
# The API server's message.
_UNKNOWN_FIELD = re.compile(r'unknown field "(spec\.[^"]+)"')


@dataclass(frozen=True)
class CustomResource:
    """A resource of a kind; `uid` is None if it is not stored, because variables define it."""

    name: str
    namespace: str
    uid: str | None
    generation: int | None
    created: str
    is_terminating: bool
    finalizers: tuple[str, ...]
    annotations: Mapping[str, str]
    spec: Mapping[str, Any]
    status: Mapping[str, Any]

    @classmethod
    def from_resource(cls, resource: Manifest) -> Self:
        """Return it from its manifest."""
        metadata = resource["metadata"]
        return cls(
            name=metadata["name"],
            namespace=metadata["namespace"],
            uid=metadata.get("uid"),
            generation=metadata.get("generation"),
            created=str(metadata.get("creationTimestamp") or ""),
            is_terminating=is_terminating(resource),
            finalizers=tuple(metadata.get("finalizers") or ()),
            annotations=metadata.get("annotations") or {},
            spec=mapping(resource.get("spec")),
            status=mapping(resource.get("status")),
        )

    def lacks(self, finalizer: str) -> bool:
        """Return whether it is stored without this finalizer."""
        return self.uid is not None and finalizer not in self.finalizers


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a mapping, otherwise an empty one."""
    return value if isinstance(value, Mapping) else {}


class InvalidResource(DruidopsError):
    """The input is not a valid resource."""


def select_document(kind: str, resource: Any, name: str | None, namespace: str | None) -> tuple[Any, str]:
    """Return the document of the kind, and a message about the others, which is empty if there are none.

    ``name`` and ``namespace`` are options, which select one of several. InvalidResource if none or several remain.
    """
    listed = resource if isinstance(resource, list) else [resource]
    documents = [item for each in listed if each is not None for item in _items(each)]
    if len(documents) == 1:
        return documents[0], ""
    expected = (KINDS[kind].api_version, kind)
    ours = [each for each in documents if (mapping(each).get("apiVersion"), mapping(each).get("kind")) == expected]
    found = ours if len(ours) == 1 else [each for each in ours if _is_named(each, name, namespace)]
    if len(found) != 1:
        what = f"{kind} in {expected[0]}" + (f" with the name {name}" if name and ours else "")
        remedy = "Set the option name to one of them." if ours else "Add one, or set another file."
        raise InvalidResource(
            f"resource: must have one {what}, and has {len(found)} among {len(documents)} documents: "
            f"{_titles(ours or documents) or 'none'}. {remedy}"
        )
    others = [each for each in documents if each is not found[0]]
    remedy = f"Apply the others with kubernetes.core.k8s or kubectl: {_titles(others)}."
    return found[0], f"resource: only {_title(found[0])} is applied. {remedy}"


def _items(document: Any) -> list[Any]:
    """Return the items of a List."""
    parts = mapping(document)
    items = parts.get("items")
    return list(items) if isinstance(items, list) and str(parts.get("kind")).endswith("List") else [document]


def _is_named(document: Any, name: str | None, namespace: str | None) -> bool:
    metadata = mapping(mapping(document).get("metadata"))
    own_namespace = metadata.get("namespace") or namespace
    return name in (None, metadata.get("name")) and namespace in (None, own_namespace)


def _titles(documents: Iterable[Any]) -> str:
    return join_limited(map(_title, documents))


def _title(document: Any) -> str:
    parts = mapping(document)
    metadata = mapping(parts.get("metadata"))
    where = f" in namespace {metadata['namespace']}" if metadata.get("namespace") else ""
    return f"{parts.get('kind') or 'a document without a kind'} {metadata.get('name') or '(no name)'}{where}"


def read_file(path: Path) -> Any:
    """Return the document in a JSON or YAML file, a list of several ones. Strings are not templated."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidResource(
            f"resource: cannot read {path}: {error}. Set the path of a readable UTF-8 file."
        ) from error
    document = _parse(text, path)
    if document is None:
        raise InvalidResource(f"resource: {path} is empty.")
    try:
        json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidResource(f"resource: {path} has a value that JSON cannot represent: {error}") from error
    return document


def _parse(text: str, path: Path) -> Any:
    try:
        # First as JSON: YAML folds U+0085 and its like inside quotes, JSON keeps them.
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        documents = parse.load_documents(text)
        return documents if len(documents) > 1 else documents[0] if documents else None
    except parse.InvalidYaml as error:
        raise InvalidResource(f"resource: {path} is neither JSON nor YAML: {error}.") from error


def from_document(kind: str, document: Any, name: str | None, namespace: str | None) -> Manifest:
    """Return a resource of the kind with name and namespace; InvalidResource if it is not one.

    It is what kubectl would apply of it: an exported resource also has a status and metadata of the server.
    """
    if not isinstance(document, Mapping):
        raise InvalidResource(f"resource: must be a mapping, not {type(document).__name__}.")
    actual, needed = (document.get("apiVersion"), document.get("kind")), (KINDS[kind].api_version, kind)
    if actual != needed:
        raise InvalidResource(
            f"resource: must be of kind {needed[1]} in {needed[0]}, not of kind {actual[1]} in {actual[0]}."
        )
    metadata = document.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise InvalidResource(f"resource: metadata must be a mapping, not {type(metadata).__name__}.")
    for field in ("labels", "annotations"):
        found = metadata.get(field)
        if not isinstance(found, Mapping | None):
            raise InvalidResource(f"resource: metadata.{field} must be a mapping, not {type(found).__name__}.")
    named = _consistent("name", metadata.get("name"), name)
    in_namespace = _consistent("namespace", metadata.get("namespace"), namespace)
    specified = {name: value for name, value in metadata.items() if name not in _NOT_SPECIFIED}
    if metadata.get("annotations"):
        found = metadata["annotations"].items()
        kept = {name: value for name, value in found if name not in _ANNOTATIONS_NOT_SPECIFIED}
        specified = {**specified, "annotations": kept}
    named_fully = {**specified, "name": named, "namespace": in_namespace}
    return {**{name: value for name, value in document.items() if name != "status"}, "metadata": named_fully}


def _consistent(what: str, specified: Any, option: str | None) -> str:
    if not isinstance(specified, str | None):
        raise InvalidResource(f"resource: metadata.{what} must be a string, not {specified!r}. Quote it.")
    if specified and option and specified != option:
        raise InvalidResource(
            f"resource: metadata.{what} is {specified}, but the option {what} is {option}. Omit one of them."
        )
    if not (specified or option):
        raise InvalidResource(f"resource: metadata.{what} and the option {what} are not set. Set one of them.")
    return specified or option or ""


def read_spec(spec: Any) -> Any:
    """Return the spec of a playbook, a mapping or JSON or YAML text of it, as plain JSON types; None remains None."""
    try:
        return None if spec is None else plain(parse.parse_mapping(spec, "spec", "ansible"))
    except InvalidInput as error:
        raise InvalidResource(f"{error}.") from None


def from_spec(kind: str, spec: Mapping[str, Any], name: str, namespace: str) -> tuple[Manifest, tuple[str, ...]]:
    """Return a resource built from a spec, with the defaults of the schema, and a warning per unknown field."""
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import schema

    result = schema.apply(schema.spec_of(kind), dict(spec), "spec")
    if result.errors:
        raise InvalidResource(f"{kind} {name} is invalid: " + "; ".join(str(error) for error in result.errors))
    resource = {
        "apiVersion": KINDS[kind].api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": result.value,
    }
    return resource, tuple(f"unknown field {path}: it is ignored{_suggestion(kind, path)}" for path in result.pruned)


def _with_nearest_field(kind: str, warning: str) -> str:
    """Return the API server's warning; one about an unknown field of the spec with the most similar field."""
    unknown = _UNKNOWN_FIELD.fullmatch(warning)
    return f"{warning}{_suggestion(kind, unknown.group(1))}" if unknown else warning


def _suggestion(kind: str, path: str) -> str:
    """Return a hint at the known field that is most similar to the unknown one; empty if there is none."""
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import schema

    nearest = schema.nearest_field(schema.spec_of(kind), path.removeprefix("spec."))
    return f" (did you mean {nearest}?)" if nearest else ""


@dataclass(frozen=True)
class Submitted:
    """A resource as it is stored now, as it was before, and the operation."""

    stored: Manifest
    live: Manifest | None = None
    operation: Literal["create", "update"] | None = None


def submit(api: KubernetesApi, resource: Manifest, check_mode: bool) -> Submitted:
    """Create the resource, or update the live one; in check mode by dry run."""
    try:
        submitted = _submitted(api, resource, check_mode)
    except ApiError as error:
        problems = _problems(resource, error)
        if problems:
            raise InvalidResource(f"{resource['kind']} {resource['metadata']['name']} is invalid: {problems}") from None
        raise
    if api.warnings:
        # The server ignores unknown fields: a typo in replicas leaves a group without pods.
        api.warnings[:] = (_with_nearest_field(resource["kind"], text) for text in api.warnings)
    return submitted


def _problems(resource: Manifest, error: ApiError) -> str:
    """Return what is wrong with the fields that the API server rejects: its own messages omit values and remedies."""
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import schema

    if error.status != UNPROCESSABLE:
        return ""
    found = schema.apply(schema.spec_of(resource["kind"]), resource.get("spec"), "spec").errors
    numbers = {path: value for path, value in _fractions(resource.get("spec"), "spec") if path in dict(error.causes)}
    unquoted = (f'{path}: Invalid value: {value}: quote it: "{value}"' for path, value in numbers.items())
    return "; ".join((*map(str, found), *unquoted))


def _fractions(value: Any, path: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers with decimals, which a variable may have where the API server needs text."""
    if isinstance(value, float):
        yield path, value
    entries = value.items() if isinstance(value, Mapping) else ()
    for name, inside in entries:
        yield from _fractions(inside, f"{path}.{name}")
    for index, inside in enumerate(value if isinstance(value, list) else ()):
        yield from _fractions(inside, f"{path}[{index}]")


def _submitted(api: KubernetesApi, resource: Manifest, check_mode: bool) -> Submitted:
    metadata = resource["metadata"]
    live = api.get(resource["kind"], metadata["namespace"], metadata["name"])
    if live is None:
        return Submitted(api.create(resource, dry_run=check_mode), operation="create")
    merged = _merged(live, resource)
    after = api.replace(merged, dry_run=True)
    if _specified(after) == _specified(live):
        return Submitted(live, live)
    return Submitted(after if check_mode else api.replace(merged), live, "update")


def _merged(live: Manifest, resource: Manifest) -> Manifest:
    """Replace the spec; merge labels and annotations; keep finalizers and status."""
    metadata = dict(live["metadata"])
    for name in ("labels", "annotations"):
        specified = resource["metadata"].get(name)
        if specified:
            metadata[name] = {**(metadata.get(name) or {}), **specified}
    return {**live, "metadata": metadata, "spec": resource.get("spec")}


def _specified(live: Manifest) -> tuple[Any, ...]:
    metadata = live["metadata"]
    return live.get("spec"), metadata.get("labels") or {}, metadata.get("annotations") or {}


def plain(value: Any) -> Any:
    """Return a value of a playbook as plain JSON types: Ansible tags values, and YAML has dates."""
    return json.loads(json.dumps(_with_plain_keys(value), default=str))


def _with_plain_keys(value: Any) -> Any:
    """Return the value with keys that JSON accepts: YAML reads 2026-01-01 as a date."""
    if isinstance(value, Mapping):
        return {_plain_key(key): _with_plain_keys(one) for key, one in value.items()}
    return [_with_plain_keys(one) for one in value] if isinstance(value, list | tuple) else value


def _plain_key(key: Any) -> Any:
    return key if isinstance(key, str | int | float | None) else str(key)


def namespace_of(resource: Any) -> str | None:
    """Return the namespace in the metadata of a resource; None if there is none."""
    metadata = resource.get("metadata") if isinstance(resource, Mapping) else None
    return metadata.get("namespace") if isinstance(metadata, Mapping) else None
