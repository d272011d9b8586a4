# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the proxy answers from the cache."""

from __future__ import annotations

from collections.abc import Callable

from .cache import Cache, NotSyncedError
from .client import Json
from .dependents import Dependents
from .kinds import Key, Resource
from .label_selector import equalities
from .owner import Owner
from .request_path import Target
from .resources import NoSuchResourceError, Resources

# The controller of an owner's kind.
DependentsOf = Callable[[Owner], Dependents | None]


def cached_answer(
    target: Target, owner: Owner | None, cache: Cache, resources: Resources, of: DependentsOf
) -> Json | None:
    """The object or the list; None for what only the API server can answer."""
    if target.subresource not in ("", "status") or not cache.covers(target.namespace):
        return None
    try:
        resource = resources.of_plural(target.group, target.version, target.plural)
        dependents = of(owner) if owner else None
        if not resource.cacheable or (dependents and resource.kind in dependents.blacklist):
            return None
        if "watch" in target.query:
            return None
        if target.name:
            return cache.get(resource, Key(target.namespace if resource.namespaced else "", target.name))
        return _list(target, resource, cache)
    except (NoSuchResourceError, NotSyncedError):
        return None


def _list(target: Target, resource: Resource, cache: Cache) -> Json | None:
    labels = equalities(target.query.get("labelSelector", ""))
    if labels is None or target.query.get("fieldSelector"):
        return None
    found = cache.all(resource, target.namespace if resource.namespaced else "")
    return {
        "apiVersion": resource.kind.api_version,
        "kind": f"{resource.kind.kind}List",
        "metadata": {},
        "items": [each for each in found if labels.items() <= (each["metadata"].get("labels") or {}).items()],
    }
