# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dynamic configurations: of the Coordinator, the Overlord, the Kubernetes task runner and the Brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources.audited import AuditedDocument
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import (
    ConfigKind,
    canonical_config,
    merged_config,
    unknown_config,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path


class DynamicConfig(AuditedDocument):
    """A dynamic configuration, ``{}`` until it is first set, and the desired fields that are merged into it."""

    def __init__(
        self, client: DruidClient, kind: ConfigKind, desired: Mapping[str, Any], audit: Audit | None = None
    ) -> None:
        super().__init__(client, f"dynamic configuration of {kind.name}", audit)
        self._kind = kind
        self._config = desired
        self._desired = canonical_config(kind, desired)
        # without a history, it is not known what was sent
        self._records_every_write = kind.has_history

    @property
    def _specified(self) -> Any:
        return self._desired

    @property
    def _document(self) -> Any:
        return self._config

    @property
    def _history(self) -> str:
        return self._kind.history

    def _fetch(self) -> dict[str, Any]:
        try:
            return self._canonical(self._client.get(self._kind.path) or {})
        except NotFound:
            raise InvalidInput(self._kind.id, HIDDEN, self._missing()) from None

    def _canonical(self, document: Any) -> dict[str, Any]:
        return canonical_config(self._kind, document)

    def _unknown(self, before: Any) -> Iterable[Path]:
        return unknown_config(self._kind, before, self._desired)

    def _merged(self, before: Any) -> dict[str, Any]:
        return merged_config(self._kind, before, self._desired)

    def _send(self, before: Any, after: Any) -> None:
        self._client.post(self._kind.path, self._body(before, after), idempotent=True, audit=self._with_marker())

    def _body(self, before: Mapping[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        """Return only the changed fields if Druid keeps the others, which may be changing concurrently."""
        if self._kind.is_replaced:
            return after
        return {name: value for name, value in after.items() if not are_same(value, before.get(name))}

    def _missing(self) -> str:
        product, name, since = self._client.product, self._kind.name, self._kind.since
        if is_older(product, since):
            return f"{product} has no dynamic configuration of {name}; it requires Druid {since} or newer"
        return f"{product} has no {name.removeprefix('the ')}; load its extension first"


def is_older(product: str, since: int) -> bool:
    """Return whether this Druid, such as ``Druid 33.0.0``, is older than a major version; True if that is unknown."""
    major = product.removeprefix("Druid").strip().partition(".")[0]
    return not major.isdigit() or int(major) < since
