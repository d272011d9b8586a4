# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Druid's normalization of an applied spec, so that it does not count as drift. Pure.

Druid silently drops unknown fields, and normalizes some values: after a spec was applied, its state still differs from
the desired one. A digest of that state is recorded. While Druid's state matches the digest, the spec is not applied
again, and a warning names the differences. After any other change in Druid or in the resource it is applied again. The
suspension is not part of the digest, since Druid does not normalize it: it is changed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import without
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest

# The digests by name of the object.
Normalized = Mapping[str, str]


class Store(NamedTuple):
    """How a kind of resource records the digests: the name of an object there, and the state that is digested."""

    name: Callable[[DruidChange], str]
    state: Callable[[DruidChange], Any]


def without_normalization(change: DruidChange, known: Normalized, store: Store) -> DruidChange:
    """Return the change without the difference that comes only from Druid's normalization."""
    before, after = change.before, change.after
    if not _may_be_normalized(change) or known.get(store.name(change)) != _digest(change, store):
        return change
    return replace(change, after=before if _SUSPENDED not in after else {**before, _SUSPENDED: after[_SUSPENDED]})


def with_normalized(
    known: Normalized, applied: Iterable[DruidChange], remaining: Iterable[DruidChange], store: Store
) -> Normalized:
    """Return the digests after the changes were applied, which replace those of the same objects.

    `remaining` compares objects with Druid afterwards: a difference that is still there is Druid's normalization.
    """
    names = {store.name(change) for change in applied}
    normalized = (each for each in remaining if store.name(each) in names and _may_be_normalized(each))
    kept = {name: one for name, one in known.items() if name not in names}
    return {**kept, **{store.name(each): _digest(each, store) for each in normalized}}


_SUSPENDED = "suspended"


def _may_be_normalized(change: DruidChange) -> bool:
    """True when the object exists and would change in more than the suspension."""
    before, after = change.before, change.after
    return not (before is None or after is None or are_same(_kept(before), _kept(after)))


def _kept(state: Any) -> Any:
    """Return a state apart from the suspension."""
    return without(state, (_SUSPENDED,)) if isinstance(state, Mapping) else state


def _digest(change: DruidChange, store: Store) -> str:
    return digest(store.state(replace(change, before=_kept(change.before))))
