# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules retention_rules and retention_rules_info."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import document_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item, items_of
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.retention_rules import (
    RetentionRules,
    all_rules,
    rules_of,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.retention_rules import DEFAULT
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, InvalidInput


def ensure_rules(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end.

    The rules of each datasource are read on their own, which requires fewer permissions than reading all.
    """
    author = audit(params["author"], params["comment"])
    report = ModuleResult(
        "retention_rules", "retention rules of", "rules", items_of(params, "retention_rules"), id="datasource"
    )
    for item in report.items:
        with report.part_of(item):
            datasource, desired = _desired(item)
            report.identify(item, datasource)
            rules = RetentionRules(client, datasource, desired, author)
            change = converge(rules, check_mode=check_mode, is_strict=item.is_strict)
            report.record(item, replace(change, now=change.now["rules"]), rules.warnings)
    return report.result()


def _desired(item: Item) -> tuple[str, list[Any]]:
    """Return the datasource and its desired rules. An empty list removes them."""
    datasource, rules = item.options.get("datasource"), document_of(item.options, "rules")
    if not datasource:
        raise InvalidInput("datasource", NOT_SET, "set the datasource")
    if not item.is_present:
        if datasource == DEFAULT:
            remedy = "the rules of the cluster cannot be removed; to load everything, use a rule of type loadForever"
            raise InvalidInput("state", "absent", remedy)
        return datasource, []
    if not rules:
        # an empty list may be the result of a mistake in a template
        raise InvalidInput(
            "rules",
            NOT_SET if rules is None else rules,
            "set at least one rule, or state: absent to remove the datasource's rules",
        )
    return datasource, rules


def retention_rules_info(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the selected rules, sorted by datasource."""
    found = all_rules(client) if params["datasource"] is None else rules_of(client, params["datasource"])
    return [{"datasource": name, "rules": found[name]} for name in sorted(found)]
