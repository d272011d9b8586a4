# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a decision can read while it decides. Equal reads are answered once, and no method writes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, TypeVar, cast

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

_T = TypeVar("_T")


class Reads:
    """The reads of one decision, in one namespace. ApiError if one fails.

    `optional`: by kind, what is not possible without the permission to list it. Without it, there are no such objects,
    and a warning.
    """

    def __init__(self, api: KubernetesApi, namespace: str | None, optional: Mapping[str, str] | None = None) -> None:
        self._api = api
        self._namespace = namespace
        self._optional = optional or {}
        self._known: dict[Hashable, Any] = {}

    def get(self, kind: str, name: str) -> Manifest | None:
        """Return the object, None if it does not exist."""
        return self._once((kind, name), lambda: self._api.get(kind, self._namespace, name))

    def read_objects(self) -> Iterator[Manifest]:
        """Yield the objects that were read by name so far, such as Secrets."""
        return (each for each in self._known.values() if isinstance(each, dict))

    def list_objects(self, kind: str, label_selector: str = "", field_selector: str = "") -> tuple[Manifest, ...]:
        """Return all objects of a kind that match the selectors."""
        selectors = label_selector, field_selector
        return self._once((kind, *selectors), lambda: self._list(kind, *selectors))

    def _list(self, kind: str, label_selector: str, field_selector: str) -> tuple[Manifest, ...]:
        try:
            return tuple(self._api.list_objects(kind, self._namespace, label_selector, field_selector))
        except ApiError as error:
            if kind not in self._optional or error.status != FORBIDDEN:
                raise
            self._api.warnings.append(f"Cannot {self._optional[kind]}: {error}")
            return ()

    def _once(self, key: Hashable, read: Callable[[], _T]) -> _T:
        if key not in self._known:
            try:
                self._known[key] = read()
            except ApiError as error:
                self._known[key] = error
        if isinstance(self._known[key], ApiError):
            raise self._known[key]
        return cast(_T, self._known[key])
