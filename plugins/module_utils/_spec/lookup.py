# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lookups: what a specification defines, and the versions that Druid requires. Pure.

Druid stores the factory of a lookup as it is sent, and replaces it only if the version of the new one sorts after that
of the current one, as Java compares strings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, NOT_SET, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.text import nearest

FACTORY, _VERSION = "lookupExtractorFactory", "version"
# The types of Druid and its own extensions (Druid 27 to 39), and the extension that has each.
EXTENSIONS = {
    "map": "",
    "cachedNamespace": "druid-lookups-cached-global",
    "kafka": "druid-kafka-extraction-namespace",
    "loadingLookup": "druid-lookups-cached-single",
    "pollingLookup": "druid-lookups-cached-single",
}
# That of the web console, too.
_TIMESTAMP = re.compile(r"-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")


@dataclass(frozen=True)
class DesiredLookup:
    """What a specification defines: the factory, the version if it has one, and fields that Druid would drop."""

    factory: Mapping[str, Any]
    version: str | None = None
    unknown: tuple[str, ...] = ()


def desired_lookup(spec: Mapping[str, Any], *, has_custom_type: bool = False) -> DesiredLookup:
    """Return what a specification defines. InvalidInput if it is incomplete, or has a type that Druid does not have.

    ``has_custom_type``: the type may be that of an extension that is not Druid's own.
    """
    factory, version = spec.get(FACTORY), spec.get(_VERSION)
    if not isinstance(factory, Mapping):
        is_bare = factory is None and "type" in spec
        remedy = f"set the factory, a mapping with its type{f': {FACTORY}: {{type: ...}}' if is_bare else ''}"
        raise InvalidInput(f"spec.{FACTORY}", NOT_SET if factory is None else HIDDEN, remedy)
    kind = factory.get("type")
    if not isinstance(kind, str) or not kind:
        remedy = "set the type of the lookup, such as map"
        raise InvalidInput(f"spec.{FACTORY}.type", NOT_SET if kind is None else kind, remedy)
    if version is not None and (not isinstance(version, str) or not version):
        raise InvalidInput(f"spec.{_VERSION}", version, "must be a string. Quote it, or leave it out: then it is made")
    if not has_custom_type:
        _reject_unknown(kind)
    return DesiredLookup(factory, version, tuple(name for name in spec if name not in (FACTORY, _VERSION)))


def _reject_unknown(kind: str) -> None:
    # the Coordinator accepts any type, and no server would ever load the lookup
    if kind in EXTENSIONS:
        return
    guess = nearest(kind, EXTENSIONS)
    question = f"Did you mean {guess!r}? " if guess else ""
    remedy = f"is not a type of lookup in Druid. {question}For a type of another extension, set custom_type: true"
    raise InvalidInput(f"spec.{FACTORY}.type", kind, remedy)


def required_version(specified: str, current: str | None) -> str:
    """Return the specified version. InvalidInput if a lookup of the current version would not be replaced."""
    if current is not None and not is_newer(specified, current):
        after = "and replaces it only by a version that sorts after it"
        remedy = f"Druid has {current!r}, {after}. Leave it out: then it is made"
        raise InvalidInput(f"spec.{_VERSION}", specified, remedy)
    return specified


def next_version(current: str | None, now: datetime) -> str:
    """Return a version that replaces the current one: the time, after the current one if that does not sort before."""
    time = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"
    if current is None or is_newer(time, current):
        return time
    # without the time of the last change, so that it does not grow with each
    following = f"{_TIMESTAMP.sub('', current)}-{time}"
    return following if is_newer(following, current) else f"{current}-{time}"


def is_newer(version: str, other: str) -> bool:
    """Return whether a version sorts after another one, as Java compares strings: by UTF-16."""
    one, two = (each.encode("utf-16-be", "surrogatepass") for each in (version, other))
    return one > two


def not_loaded(kind: str, tier: str, version: str | None, servers: Sequence[Mapping[str, Any]]) -> str:
    """Return which servers of a tier have not loaded a lookup of this type in this version, and what to check."""
    if not servers:
        return f"Tier {tier!r} has no servers. Check its name (druid.lookup.lookupTier of the servers)"
    extension = EXTENSIONS.get(kind)
    missing = f"that the extension {extension} is in druid.extensions.loadList there, and " if extension else ""
    names = ", ".join(
        each["server"] + (f" (has version {each['version']!r})" if each["version"] else "")
        for each in servers
        if not each["loaded"]
    )
    remedy = f"Check {missing}the log of these servers"
    if any(is_newer(each["version"] or "", version or "") for each in servers):
        # its lookup was removed, and another client has created it again
        remedy = "A server keeps a newer version. Remove the lookup, and create it again without a version in spec"
    return f"Not loaded by: {names}. Druid has version {version!r}. {remedy}"
