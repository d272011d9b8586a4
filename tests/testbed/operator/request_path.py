# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a request to the API server is about, by its path."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

# these change what the rest of a path means; nobody needs them
_SPECIAL = {"watch", "proxy"}


@dataclass(frozen=True)
class Target:
    """An object, or, without a name, all objects of a resource; the query's first value of each parameter."""

    group: str
    version: str
    namespace: str
    plural: str
    name: str
    subresource: str
    query: dict[str, str]


def target(url: str) -> Target | None:
    """The target of a path with its query; None for what is about no resource, such as /version."""
    split = urlsplit(url)
    parts = [unquote(part) for part in split.path.split("/") if part]
    query = {name: values[0] for name, values in parse_qs(split.query, keep_blank_values=True).items()}
    if parts[:1] == ["api"]:
        parts[1:1] = [""]
    elif parts[:1] != ["apis"]:
        return None
    if len(parts) < 4 or parts[3] in _SPECIAL:
        return None
    group, version, rest = parts[1], parts[2], parts[3:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in ("status", "finalize"):
            rest = rest[2:]
    plural, name, subresource = (*rest, "", "")[:3]
    return Target(group, version, namespace, plural, name, subresource, query)
