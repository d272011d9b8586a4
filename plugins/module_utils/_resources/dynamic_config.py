# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dynamic configurations: of the Coordinator, the Overlord, the Kubernetes task runner and the Brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit, Document
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import (
    Kind,
    canonical_config,
    merged_config,
    unknown_config,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path


class DynamicConfig(Document):
    """A dynamic configuration, ``{}`` until it is first set, and the desired fields that are merged into it."""

    def __init__(self, client: DruidClient, kind: Kind, desired: Mapping[str, Any], audit: Audit | None = None) -> None:
        super().__init__(client, f"dynamic configuration of {kind.name}", audit)
        self._kind = kind
        self._desired = canonical_config(kind, desired)

    @property
    def desired(self) -> Mapping[str, Any]:
        """The desired fields, in canonical form."""
        return self._desired

    def _fetch(self) -> dict[str, Any]:
        if self._kind.since and not self._client.supports(self._kind.since):
            raise InvalidInput(self._kind.id, HIDDEN, self._missing())
        try:
            return canonical_config(self._kind, self._client.get(self._kind.path) or {})
        except NotFound:
            raise InvalidInput(self._kind.id, HIDDEN, self._missing()) from None

    def _unknown(self, before: Any) -> Iterable[Path]:
        return unknown_config(self._kind, before, self._desired)

    def _merged(self, before: Any) -> dict[str, Any]:
        return merged_config(self._kind, before, self._desired)

    def _send(self, before: Any, after: Any) -> None:
        self._client.post(self._kind.path, self._body(before, after), idempotent=True, audit=self._audit)

    def _body(self, before: Mapping[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        """Return only the changed fields if Druid keeps the others, which may be changing concurrently."""
        if self._kind.is_replaced:
            return after
        return {name: value for name, value in after.items() if not are_same(value, before.get(name))}

    def _missing(self) -> str:
        version, name, since = self._client.version_text, self._kind.name, self._kind.since
        if not self._client.supports(since):
            return f"Druid {version} has no dynamic configuration of {name}; it requires Druid {since} or newer"
        return f"Druid {version} has no {name.removeprefix('the ')}; load its extension first"
