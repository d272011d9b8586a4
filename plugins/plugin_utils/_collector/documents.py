# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects in YAML that a chart renders to, or that a Secret of Helm has. Pure.

A user of the tenant may have written that Secret: whatever it has, the rest of this package can take as objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.parse import InvalidYaml, load_yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# Kubernetes stores at most about 1 MiB, which gzip may have compressed a thousandfold.
MAX_BYTES = 8 * 2**20
_SEPARATOR = re.compile(r"^---(?=\s|$).*$", re.MULTILINE)
_API_VERSION = re.compile(r"([a-z0-9][a-z0-9.-]*/)?[a-z][a-z0-9]*")
# It is a part of a path.
_NAME = re.compile(r"(?!\.{1,2}$)[^/%]{1,253}")
_NAMESPACE = re.compile(r"[a-z0-9-]{1,63}")


class UnreadableRelease(ValueError):
    """A Secret does not have a release in the format of Helm 3."""


def documents(text: str) -> tuple[Manifest, ...]:
    """Return the objects in YAML documents; UnreadableRelease if a document is not an object."""
    try:
        # A line that begins with three hyphens always separates documents: text in a document is indented.
        found = [each for part in _SEPARATOR.split(text) if (each := load_yaml(part))]
    except InvalidYaml as error:
        raise UnreadableRelease(f"a rendered template is not YAML: {error}") from None
    if not _is_limited(found):
        raise UnreadableRelease("a rendered template is too large")
    flat = [item for each in found for item in _items(each)]
    if not all(map(_is_object, flat)):
        raise UnreadableRelease("a rendered template is not an object of Kubernetes with a name")
    return tuple(flat)


def _is_limited(document: Any) -> bool:
    """Return whether the document is not too large: each reference to an anchor counts, as in JSON."""
    waiting, size = [document], 0
    while waiting and size <= MAX_BYTES:
        one = waiting.pop()
        inside = _inside(one)
        size += len(inside) + (len(one) if isinstance(one, str) else 0)
        waiting += inside
    return size <= MAX_BYTES


def _inside(one: Any) -> list[Any]:
    if isinstance(one, dict):
        return [*one, *one.values()]
    return one if isinstance(one, list) else []


def _items(document: Any) -> Iterable[Any]:
    """Return the objects in a document. Helm opens every object with `items`, whatever its kind."""
    if not isinstance(document, dict) or "items" not in document:
        return [document]
    if not isinstance(document["items"], list):
        raise UnreadableRelease("a rendered template has items that are not a list")
    return [item for each in document["items"] for item in _items(each)]


def _is_object(document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    metadata = document.get("metadata")
    return (
        _is_text(document.get("apiVersion"), _API_VERSION)
        and _is_text(document.get("kind"), _NAME)
        and isinstance(metadata, dict)
        and _is_text(metadata.get("name"), _NAME)
        and (not metadata.get("namespace") or _is_text(metadata["namespace"], _NAMESPACE))
        and all(isinstance(metadata.get(name) or {}, dict) for name in ("labels", "annotations"))
    )


def _is_text(value: Any, pattern: re.Pattern[str]) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None
