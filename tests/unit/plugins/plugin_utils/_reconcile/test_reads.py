# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Equal reads of a decision are answered once, also if they fail."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads


class Api:
    """Permits to read one Secret."""

    def __init__(self) -> None:
        self.requested: list[str] = []

    def get(self, kind: str, namespace: str, name: str) -> dict[str, Any]:
        self.requested.append(name)
        if name != "db":
            raise ApiError("get", "secrets", kind, namespace, name, FORBIDDEN, {})
        return {"kind": kind}


def test_equal_reads_are_answered_once() -> None:
    api: Any = Api()
    reads = Reads(api, "ns")
    for _time in range(2):
        assert reads.get("Secret", "db") == {"kind": "Secret"}
        with pytest.raises(ApiError):
            reads.get("Secret", "tls")
    assert api.requested == ["db", "tls"]
