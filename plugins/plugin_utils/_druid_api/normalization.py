# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Druid's normalization of an applied spec, so that it does not count as drift. Pure.

Druid silently drops unknown fields, and normalizes some values: after a spec was applied, its state still differs from
the desired one. A digest of that state is recorded. While Druid's state matches the digest, the spec is not applied
again, and a warning names the differences. After any other change in Druid or in the resource it is applied again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest

# The digests by name of the object.
Normalized = Mapping[str, str]


class Store(NamedTuple):
    """How a kind of resource records the digests: the name of an object there, and the state that is digested."""

    name: Callable[[DruidChange], str]
    state: Callable[[DruidChange], Any]


def is_normalized(change: DruidChange, known: Normalized, store: Store) -> bool:
    """True when the difference comes only from Druid's normalization."""
    return _may_be_normalized(change) and known.get(store.name(change)) == digest(store.state(change))


def with_normalized(
    known: Normalized, applied: Iterable[DruidChange], remaining: Iterable[DruidChange], store: Store
) -> Normalized:
    """Return the digests after the changes were applied, which replace those of the same objects.

    `remaining` compares objects with Druid afterwards: a difference that is still there is Druid's normalization.
    """
    names = {store.name(change) for change in applied}
    normalized = (each for each in remaining if store.name(each) in names and _may_be_normalized(each))
    kept = {name: one for name, one in known.items() if name not in names}
    return {**kept, **{store.name(each): digest(store.state(each)) for each in normalized}}


def _may_be_normalized(change: DruidChange) -> bool:
    """True when the object exists and would change. A change of the suspension is drift, not normalization."""
    before, after = change.before, change.after
    if before is None or after is None or not change.changed:
        return False
    return bool(before.get("suspended")) == bool(after.get("suspended"))
