# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What admission (mutating webhooks and policies) makes of a manifest, as the result of a dry run shows it.

A value that admission adds or overrides is not ours: a live object is compared only with what admission leaves as it is
specified. So a policy that stamps each object, or that was installed later, causes no recreation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.list_types import Shape, shape_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import is_dropped, same, same_entry
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


class Override(NamedTuple):
    """A field whose specified value is not what the API server stores; `stored` None: it stores none."""

    path: str
    specified: Any
    stored: Any


def differs(live: Any, desired: Any, admitted: Any, shape: Shape) -> bool:
    """True if ``live`` differs from ``desired`` in a value that is in ``admitted`` as it is in ``desired``."""
    if same(admitted, desired, shape):
        return not same(live, desired, shape)
    if isinstance(desired, list) and isinstance(admitted, list):
        before, specified, after = (_by_name(each or [], shape) for each in (live, desired, admitted))
        names = {**before, **specified, **after}
        return any(_differs_in(before, specified, after, name, shape.element) for name in names)
    if isinstance(desired, Mapping) and isinstance(admitted, Mapping):
        found = live if isinstance(live, Mapping) else {}
        return any(_entry_differs(found, desired, admitted, name, shape) for name in {**found, **desired, **admitted})
    return False


def _entry_differs(
    live: Mapping[str, Any], desired: Mapping[str, Any], admitted: Mapping[str, Any], name: str, shape: Shape
) -> bool:
    if same_entry(admitted, desired, name, shape):
        return not same_entry(live, desired, name, shape)
    if name not in desired and not isinstance(admitted.get(name), Mapping):
        return False
    default: Any = {} if isinstance(admitted.get(name), Mapping) else None
    return differs(live.get(name, default), desired.get(name, default), admitted.get(name), shape.child(name))


def _differs_in(
    live: Mapping[Any, Any], desired: Mapping[Any, Any], admitted: Mapping[Any, Any], name: Any, shape: Shape
) -> bool:
    """True if the element of a list was added, removed or changed, and not by admission."""
    if (name in desired) != (name in admitted):
        return False
    if name not in desired or name not in live:
        return True
    return differs(live[name], desired[name], admitted[name], shape)


def overrides(manifest: Manifest, after: Manifest) -> Iterator[Override]:
    """Yield each field of the manifest that has another value in the result of its dry run, or none."""
    shape = shape_of(manifest["kind"])
    head = {name: manifest["metadata"].get(name) or {} for name in ("labels", "annotations")}
    specified = {**{name: value for name, value in manifest.items() if name not in ("apiVersion", "kind", "status")}}
    yield from _overrides({**specified, "metadata": head}, after, shape, "")


def _overrides(desired: Any, after: Any, shape: Shape, path: str) -> Iterator[Override]:
    if same(after, desired, shape):
        return
    if isinstance(desired, Mapping) and isinstance(after, Mapping):
        for name, value in desired.items():
            where = f"{path}.{name}" if path else name
            if name in after or not (is_dropped(value, name, shape) or same_entry(after, desired, name, shape)):
                yield from _overrides(value, after.get(name), shape.child(name), where)
    elif isinstance(desired, list) and isinstance(after, list) and (shape.type or shape.is_set):
        stored = _by_name(after, shape)
        for name, value in _by_name(desired, shape).items():
            yield from _overrides(value, stored.get(name), shape.element, f"{path}[{name}]")
    else:
        yield Override(path, desired, after)


def _by_name(elements: list[Any], shape: Shape) -> dict[Any, Any]:
    """Return the elements of a list by what identifies them: merge key, value, name or number."""
    if shape.is_set:
        return {str(each): each for each in elements}
    if shape.keys:
        return {"/".join(str(key) for key in shape.key_of(each) if key is not None): each for each in elements}
    mappings = [each for each in elements if isinstance(each, Mapping)]
    named = {name: each for each in mappings if (name := (each.get("metadata") or each).get("name"))}
    return named if len(named) == len(elements) else dict(enumerate(elements))
