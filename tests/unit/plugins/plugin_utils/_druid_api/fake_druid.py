# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A fake Druid that responds to GET only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound


class FakeDruid:
    """A read-only client that returns the documents by path."""

    version = (33, 0, 0)
    version_text = "33.0.0"
    product = "Druid 33.0.0"

    def __init__(self, documents: Mapping[str, Any]) -> None:
        self._documents = documents

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        """Return the document at the path."""
        del params
        if path not in self._documents:
            raise NotFound(404, "not found", "GET", path)
        return self._documents[path]

    @staticmethod
    def serves(path: str) -> bool:
        """Return whether Druid 33 has this API."""
        return path.startswith("/druid/indexer/v1/compaction/")

    @staticmethod
    def supports(*version: int) -> bool:
        """Return whether this version is supported."""
        return version <= (33,)
