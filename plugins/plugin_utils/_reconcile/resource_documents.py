# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The document of a resource among those of a file: several YAML documents, or a List as kubectl prints it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.custom_resource import mapping
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


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
