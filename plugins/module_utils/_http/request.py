# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A request to Druid. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput

JSON = "application/json"
SQL = "/druid/v2/sql"
# A POST of these changes nothing: a query, and the used segments of intervals.
_READS = re.compile(rf".*(?:{SQL}|/druid/coordinator/v1/metadata/datasources/[^/]+/segments)")
# The service whose leader serves /druid/{service}, by the name in the path.
SERVICES = {"indexer": "Overlord", "coordinator": "Coordinator"}


@dataclass(frozen=True)
class HttpRequest:
    """
    A request. ``path``: as on the Coordinator or the Overlord. ``document``: the body before its encoding.

    ``audit``: additional headers with the author and the comment for Druid's audit history.
    """

    method: str
    path: str
    query: str = ""
    body: bytes | None = None
    content_type: str | None = None
    idempotent: bool = True
    document: Any = None
    audit: Mapping[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """The headers, without credentials."""
        kind = {"Content-Type": self.content_type} if self.content_type else {}
        return {"Accept": JSON, "User-Agent": "druidops.druid", **kind, **self.audit}

    @property
    def service(self) -> str:
        """The service that serves the path: ``indexer``, ``coordinator`` or none."""
        if self.path.startswith("/druid-ext/"):
            return "coordinator"
        return next((service for service in SERVICES if self.path.startswith(f"/druid/{service}/")), "")


def is_read(method: str, url: str) -> bool:
    """Return whether a request changes nothing."""
    return method == "GET" or bool(_READS.fullmatch(url))


def encode_body(body: Any) -> bytes | None:
    """Return a document as JSON, and bytes unchanged. InvalidInput if JSON cannot represent the document."""
    if body is None or isinstance(body, bytes):
        return body
    try:
        return json.dumps(body, allow_nan=False).encode("ascii")
    except (ValueError, TypeError) as error:
        raise InvalidInput("body", HIDDEN, f"it cannot be represented in JSON ({error}).") from None
