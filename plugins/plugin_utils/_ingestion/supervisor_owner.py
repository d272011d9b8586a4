# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Owner of a supervisor that two resources specify: the older one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import identity, specifies_id
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.target import canonical_url
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating


def older_owner(resource: Manifest, siblings: Iterable[Manifest], supervisor: str, *, has_own_ids: bool) -> str | None:
    """Return the name of an older resource that specifies the supervisor, None if there is none."""
    owners = _owners(resource, siblings, supervisor, has_own_ids)
    return next((each["metadata"]["name"] for each in sorted(owners, key=_age) if _age(each) < _age(resource)), None)


def other_owner(resource: Manifest, siblings: Iterable[Manifest], supervisor: str) -> str | None:
    """Return the name of another resource, not terminating itself, that specifies the supervisor."""
    owners = _owners(resource, siblings, supervisor, has_own_ids=True)
    return next((each["metadata"]["name"] for each in sorted(owners, key=_age)), None)


def described_supervisors(resource: Manifest, siblings: Iterable[Manifest]) -> frozenset[str]:
    """Return the supervisors that other resources specify."""
    found = (_supervisor(each, has_own_ids=True) for _manifest, each in _beside(resource, siblings))
    return frozenset(each for each in found if each is not None)


def specify_ids(siblings: Iterable[Manifest]) -> bool:
    """True when one of them sets the id of its supervisor, which only some versions of Druid support."""
    return any(_specifies_id(Ingestion.from_resource(each)) for each in siblings)


def _specifies_id(ingestion: Ingestion) -> bool:
    try:
        return specifies_id(ingestion)
    except (InvalidInput, ValueError):
        return False


def _owners(resource: Manifest, siblings: Iterable[Manifest], supervisor: str, has_own_ids: bool) -> list[Manifest]:
    return [each for each, what in _beside(resource, siblings) if _supervisor(what, has_own_ids) == supervisor]


def _beside(resource: Manifest, siblings: Iterable[Manifest]) -> Iterator[tuple[Manifest, Ingestion]]:
    """Yield the other resources for the same Druid that are not terminating."""
    own = _target(Ingestion.from_resource(resource))
    for each in siblings:
        ingestion = Ingestion.from_resource(each)
        if not is_terminating(each) and _target(ingestion) == own:
            yield each, ingestion


def _target(ingestion: Ingestion) -> tuple[str | None, Any]:
    """Return the specified Druid; an invalid value is a target of its own."""
    endpoint = ingestion.spec.get("endpoint")
    return ingestion.cluster, canonical_url(endpoint.get("url") if isinstance(endpoint, Mapping) else endpoint)


def _supervisor(ingestion: Ingestion, has_own_ids: bool) -> str | None:
    if not ingestion.is_supervisor:
        return None
    try:
        return identity(ingestion, has_own_ids=has_own_ids)
    except (InvalidInput, ValueError):
        return None


def _age(resource: Manifest) -> tuple[str, str]:
    metadata = resource["metadata"]
    # an ingestion without a resource has no age: it counts as the youngest
    return str(metadata.get("creationTimestamp") or "9999"), str(metadata.get("uid") or "")
