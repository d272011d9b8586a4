# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The author and the comment of a change."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput


def test_specified_values_are_sent_as_headers() -> None:
    assert audit("me", " new disks ") == {"X-Druid-Author": "me", "X-Druid-Comment": "new disks"}
    assert audit(None, "") == {}


@pytest.mark.parametrize("text", ["größer", "two\nlines", "\x00"])
def test_rejects_values_that_a_header_cannot_contain(text: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"^comment \(.*\): it is sent as an HTTP header; use printable ASCII characters"
    ):
        audit("me", text)
