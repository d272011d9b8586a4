# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules retention_rules and retention_rules_info."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import ModuleResult, converge
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.retention_rules import (
    RetentionRules,
    all_rules,
)


def ensure_rules(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the result of the module retention_rules."""
    datasource = params["datasource"]
    rules = RetentionRules(client, datasource, params["rules"], audit(params["author"], params["comment"]))
    change = converge(rules, check_mode=check_mode)
    report = ModuleResult("retention_rules", "retention rules of", "rules")
    entry = report.add(datasource, change, rules.warnings)
    entry["rules"] = entry["rules"]["rules"]
    return report.result()


def retention_rules_info(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the selected rules, sorted by datasource."""
    found = all_rules(client)
    return [{"id": name, "rules": found[name]} for name in sorted(found) if params["datasource"] in (None, name)]
