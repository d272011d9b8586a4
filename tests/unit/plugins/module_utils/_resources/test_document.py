# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The author and the comment of a change, and a change that cannot be read back."""

from __future__ import annotations

from typing import Any, cast

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Document, audit
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


class ReadOnce(Document):
    """What can be read, changed, and not read again."""

    _specified = None
    is_sent = False

    def _fetch(self) -> Any:
        if self.is_sent:
            raise Unreachable("GET", "http://druid.example.com", "no connection")
        return "before"

    def _unknown(self, before: Any) -> Any:
        return ()

    def _merged(self, before: Any) -> Any:
        return "after"

    def _send(self, before: Any, after: Any) -> None:
        self.is_sent = True


def test_change_that_cannot_be_read_back_is_a_change() -> None:
    change = converge(ReadOnce(cast(DruidClient, None), "thing"), check_mode=False)
    assert change.changed
    assert change.problem.startswith("thing was changed. The new state could not be read: ")
