# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of a reconcile: what it read, what it decides on, and what it did. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import DruidObject
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.reads import DruidReads

_Object = TypeVar("_Object", bound=DruidObject)


@dataclass(frozen=True)
class Surroundings(Generic[_Object]):
    """The Druid resource with its Services, the Secrets, the other resources of the kind."""

    cluster: Manifest | None = None
    services: tuple[Manifest, ...] = ()
    secrets: Mapping[SecretKey, Manifest | None] = field(default_factory=dict, repr=False)
    siblings: tuple[_Object, ...] = ()


@dataclass(frozen=True)
class ObjectState:
    """The change of an object in Druid to its desired state, what the status has about it, and what is waited for."""

    change: DruidChange
    fields: Mapping[str, Any] = field(default_factory=dict)
    pending: str = ""


@dataclass(frozen=True)
class Plan(plan.Plan[plan.Step]):
    """The plan of a resource that describes one object."""


@dataclass(frozen=True)
class ObjectResult(plan.Completed[Plan]):
    """What a reconcile found and did; `item` is the parsed resource. `in_druid` is None if it was not read."""

    item: DruidObject
    in_druid: ObjectState | None = None
    observed: Surroundings[DruidObject] = field(default_factory=Surroundings)


def is_lasting(problem: Finding, observed: Surroundings[Any]) -> bool:
    """True when the address or Secret of Druid is deleted; a wrong one may be fixed, so a deletion is retried."""
    if problem.reason == reasons.SECRET_NOT_FOUND:
        return None in observed.secrets.values()
    return problem.reason == reasons.CLUSTER_NOT_FOUND


def terminating_parent(reads: DruidReads) -> str:
    """Return which parent of the resource is also being deleted; empty if none is."""
    cluster = reads.observe().cluster
    if cluster is not None and is_terminating(cluster):
        return "cluster"
    return "namespace" if reads.is_namespace_terminating() else ""
