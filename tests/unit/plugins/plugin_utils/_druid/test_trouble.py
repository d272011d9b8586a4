# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an error of Druid's API means for a resource."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.module_utils import _errors
from ansible_collections.druidops.druid.plugins.plugin_utils._druid.trouble import finding

ANSWER = ("words", "GET", "http://druid:8888/status")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (_errors.Unreachable("GET", "http://druid:8888", "refused"), "DruidUnreachable"),
        (_errors.ServerError(503, *ANSWER), "DruidUnreachable"),
        (_errors.BadAnswer(200, *ANSWER), "DruidUnreachable"),
        (_errors.Unauthorized(401, *ANSWER), "Unauthorized"),
        (_errors.Forbidden(403, *ANSWER), "Unauthorized"),
        (_errors.ApiError(400, *ANSWER), "RefusedByDruid"),
        (_errors.Unsettled("It is half done."), "RefusedByDruid"),
        (_errors.BadInput("field", 1, "it is no text."), "InvalidSpec"),
    ],
)
def test_reason_by_kind(error: _errors.DruidError, reason: str) -> None:
    found = finding(error)
    assert (found.reason, found.is_problem, found.group) == (reason, True, None)
    assert str(error) in found.message
    assert ("spec.auth.secretRef" in found.message) is (reason == "Unauthorized")
