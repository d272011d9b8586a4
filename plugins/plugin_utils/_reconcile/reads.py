# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a decision can read while it decides. Equal reads are answered once, and no method writes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, TypeVar, cast

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import (
    KubernetesApi,
    is_namespace_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context

_T = TypeVar("_T")


class Reads:
    """The reads of one decision, of one namespace unless another one is given. ApiError if one fails.

    `optional`: by kind, what is not possible without the permission to list it. Without it, there are no such objects,
    and a warning.
    """

    def __init__(self, api: KubernetesApi, namespace: str | None, optional: Mapping[str, str] | None = None) -> None:
        self._api = api
        self._namespace = namespace
        self._optional = optional or {}
        self._known: dict[tuple[Hashable, ...], Any] = {}
        # what was asked about: manifests are no keys
        self._subjects: list[Any] = []

    @property
    def api_server(self) -> str:
        """The URL of the API server."""
        return self._api.api_server

    def get(self, kind: str, name: str, namespace: str | None = None) -> Manifest | None:
        """Return the object, None if it does not exist."""
        where = namespace or self._namespace
        return self._once((kind, where, name), lambda: self._api.get(kind, where, name))

    def forget(self) -> None:
        """Read again from here on: what was read may have changed since."""
        self._known.clear()

    def read_objects(self) -> Iterator[Manifest]:
        """Yield the objects that were read by name so far, such as Secrets."""
        return (each for each in self._known.values() if isinstance(each, dict))

    def list_objects(
        self, kind: str, label_selector: str = "", field_selector: str = "", namespace: str | None = None
    ) -> tuple[Manifest, ...]:
        """Return all objects of a kind that match the selectors."""
        arguments = namespace or self._namespace, label_selector, field_selector
        return self._once((kind, *arguments), lambda: self._list(kind, *arguments))

    def names(self, kind: str) -> list[str]:
        """Return the names of all objects of a kind, also of those that cannot be read."""
        return self._once(("names", kind), lambda: self._api.list_names(kind, self._namespace))

    def is_namespace_terminating(self, namespace: str | None = None) -> bool:
        """Return whether nothing can be created in the namespace any more; ApiError if it does not exist."""
        where = str(namespace or self._namespace)
        return self._once(("terminating", where), lambda: is_namespace_terminating(self._api, where))

    def dry_run(self, step: Any) -> Any:
        """Return the verdict of the API server on a step; ApiError if it rejects the step."""
        return self.ask("dry run", step, lambda: step.dry_run(Context(self._api)))

    def ask(self, question: str, about: Any, answer: Callable[[], _T]) -> _T:
        """Return what a server, or Helm, answers to a question about something; an ApiError is an answer, too."""
        if about not in self._subjects:
            self._subjects.append(about)
        return self._once((question, self._subjects.index(about)), answer)

    def _list(self, kind: str, namespace: str | None, label_selector: str, field_selector: str) -> tuple[Manifest, ...]:
        try:
            return tuple(self._api.list_objects(kind, namespace, label_selector, field_selector))
        except ApiError as error:
            if kind not in self._optional or error.status != FORBIDDEN:
                raise
            self._api.warnings.append(f"Cannot {self._optional[kind]}: {error}")
            return ()

    def _once(self, key: tuple[Hashable, ...], read: Callable[[], _T]) -> _T:
        if key not in self._known:
            try:
                self._known[key] = read()
            except ApiError as error:
                self._known[key] = error
        if isinstance(self._known[key], ApiError):
            raise self._known[key]
        return cast(_T, self._known[key])
