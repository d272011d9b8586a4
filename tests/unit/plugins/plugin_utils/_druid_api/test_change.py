# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A change is data: what it is of, its states, and the warnings of the comparison."""

from __future__ import annotations

import pickle
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import fetch_change
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import RETENTION_RULES
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid

RULES = "/druid/coordinator/v1/rules/pages"
RULE = {"type": "loadForever", "tieredReplicants": {"_default_tier": 2}, "useDefaultTierForNull": True}


def test_a_change_has_its_title_and_its_warnings() -> None:
    client: Any = FakeDruid({RULES: [RULE], f"{RULES}/history": []})
    desired = [{**RULE, "tieredReplicants": {"hot": 1}, "colour": "red"}]
    found = fetch_change(client, RETENTION_RULES, "pages", "retention rules of pages", desired)
    assert (found.changed, found.title) == (True, "update retention rules of pages")
    assert [text.partition(": ")[0] for text in found.warnings] == ["Retention rules of datasource 'pages'"]
    assert pickle.loads(pickle.dumps(found)) == found
