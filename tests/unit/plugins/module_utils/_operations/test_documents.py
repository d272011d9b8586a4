# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Documents in Druid's own format, as structures or as text."""

from __future__ import annotations

import math
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import document_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "spec",
            {"spec": {"tuningConfig": {"maxRows": math.nan}}},
            "spec.spec.tuningConfig.maxRows ('nan')",
        ),
        ("config", '{"a": [1, NaN]}', "config.a[1] ('nan')"),
        ("config", "a: -.inf", "config.a ('-inf')"),
        ("rules", [{"tieredReplicants": {"hot": math.inf}}], "rules[0].tieredReplicants.hot ('inf')"),
    ],
)
def test_a_number_without_a_form_in_json_is_named(option: str, value: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        document_of({option: value}, option)
    assert str(refused.value).startswith(f"{message}: JSON has no such number")
