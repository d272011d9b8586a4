# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The retention rules of one datasource, or of all (``_default``): ``/druid/coordinator/v1/rules``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._resources.audited import AuditedDocument
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import unknown_in
from ansible_collections.druidops.druid.plugins.module_utils._spec.retention_rules import canonical_rules, merged_rules
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

RULES = path("druid", "coordinator", "v1", "rules")


def all_rules(client: DruidClient) -> dict[str, list[Any]]:
    """Return the rules by datasource, in canonical form, without datasources that have no rules of their own."""
    return {name: canonical_rules(rules) for name, rules in client.get(RULES).items() if rules}


def rules_of(client: DruidClient, datasource: str) -> dict[str, list[Any]]:
    """Return the rules of one datasource in the same form. Those of all require another permission (STATE)."""
    rules = client.get(_path_of(datasource))
    return {datasource: canonical_rules(rules)} if rules else {}


def _path_of(datasource: str) -> str:
    return path("druid", "coordinator", "v1", "rules", datasource)


class RetentionRules(AuditedDocument):
    """The ordered rules, as ``{"rules": [...]}``, and the desired list, which replaces them."""

    is_merged = False
    # since 28 or later Druid records none that it reads as the current list
    _records_every_write = False

    def __init__(self, client: DruidClient, datasource: str, desired: list[Any], audit: Audit | None = None) -> None:
        super().__init__(client, f"retention rules of datasource {datasource!r}", audit)
        self._datasource = datasource
        self._rules = desired
        self._desired = canonical_rules(desired)

    @property
    def _specified(self) -> Any:
        return self._desired

    @property
    def _document(self) -> Any:
        return {"rules": self._rules}

    @property
    def _history(self) -> str:
        return f"{self._path}/history"

    def _fetch(self) -> dict[str, Any]:
        return self._canonical(self._client.get(self._path) or [])

    def _canonical(self, document: Any) -> dict[str, Any]:
        return {"rules": canonical_rules(document)}

    def _unknown(self, before: Any) -> Iterable[Path]:
        return ((f"rules[{index}]", name) for index, name in unknown_in(before["rules"], self._desired))

    def _merged(self, before: Any) -> dict[str, Any]:
        return {"rules": merged_rules(before["rules"], self._datasource, self._desired)}

    def _send(self, before: Any, after: Any) -> None:
        self._client.post(self._path, after["rules"], idempotent=True, audit=self._with_marker())

    @property
    def _path(self) -> str:
        return _path_of(self._datasource)
