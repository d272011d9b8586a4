# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the objects of a chart may be: in the tenant's namespace, unless the administrator allows more. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import ApiResource, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import mapping
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

Kinds = Mapping[tuple[str, str], ApiResource]

_CRD = "CustomResourceDefinition"


def refused_in_chart(
    collector: Collector, manifest: Sequence[Manifest], kinds: Kinds, *, allows_cluster_scoped: bool
) -> tuple[Finding, ...]:
    """Return what is not permitted of the objects of a chart."""
    return scope_problems(manifest, kinds, _namespaces(collector), allows_cluster_scoped=allows_cluster_scoped)


def refused_in_release(
    collector: Collector,
    release: Release | None,
    kinds_of: Callable[[Sequence[Manifest]], Kinds],
    *,
    allows_cluster_scoped: bool,
) -> tuple[str, ...]:
    """Return the objects of an installed release that its chart may not have."""
    revisions = () if release is None else (release.latest, *((release.deployed,) if release.deployed else ()))
    objects = tuple(each for revision in revisions for each in (*revision.manifest, *revision.hooks))
    return foreign_objects(
        objects, kinds_of(objects), _namespaces(collector), allows_cluster_scoped=allows_cluster_scoped
    )


def _namespaces(collector: Collector) -> set[str]:
    """Return the namespaces of objects; the default chart also has a Role in that of the cluster."""
    return {collector.tenant} if collector.chart else {collector.tenant, collector.namespace}


def scope_problems(
    objects: Sequence[Manifest], kinds: Kinds, namespaces: Collection[str], *, allows_cluster_scoped: bool
) -> tuple[Finding, ...]:
    """Return what is not permitted: `namespaces` are those in which the chart may have objects."""
    return (
        *_unknown(objects, kinds),
        *(() if allows_cluster_scoped else _cluster_scoped(objects, kinds)),
        *_elsewhere(objects, kinds, namespaces),
    )


def foreign_objects(
    objects: Sequence[Manifest], kinds: Kinds, namespaces: Collection[str], *, allows_cluster_scoped: bool
) -> tuple[str, ...]:
    """Return the objects of an installed release that its chart may not have. Helm would delete them.

    Who can write the Secrets of a release can put any object there.
    """
    scoped = () if allows_cluster_scoped else _without_namespace(objects, kinds)
    return tuple(sorted({*map(_title, scoped), *_in_others(objects, kinds, namespaces)}))


def _title(manifest: Manifest) -> str:
    return f"{manifest['kind']} {(manifest.get('metadata') or {}).get('name')}"


def _unknown(objects: Sequence[Manifest], kinds: Kinds) -> Iterator[Finding]:
    defined = [mapping(mapping(each.get("spec")).get("names")).get("kind") for each in objects if each["kind"] == _CRD]
    unknown = {
        f"{each['kind']} ({each['apiVersion']})"
        for each in objects
        if (each["apiVersion"], each["kind"]) not in kinds and each["kind"] not in defined
    }
    if unknown:
        yield Finding(
            reasons.REFERENCE_NOT_FOUND,
            "The chart has objects of kinds that this Kubernetes cluster does not have: "
            f"{join_limited(sorted(unknown))}. Install their CRDs, or change spec.values.",
        )


def _cluster_scoped(objects: Sequence[Manifest], kinds: Kinds) -> Iterator[Finding]:
    found = _without_namespace(objects, kinds)
    if found:
        yield Finding(
            reasons.CLUSTER_SCOPED_OBJECTS,
            f"The chart has objects that belong to no namespace: {join_limited(map(_title, found))}. "
            "Change spec.values, or have them allowed by the administrator: in the module by "
            "allow_cluster_scoped_objects, in the role by druid_collector_allow_cluster_scoped_objects, in the "
            "operator by ALLOW_CLUSTER_SCOPED_OBJECTS.",
        )


def _elsewhere(objects: Sequence[Manifest], kinds: Kinds, namespaces: Collection[str]) -> Iterator[Finding]:
    found = _in_others(objects, kinds, namespaces)
    if found:
        shown = join_limited(found)
        yield Finding(
            reasons.REF_NOT_PERMITTED,
            f"The chart has objects in namespaces other than that of the tenant: {shown}. Change spec.values.",
        )


def _without_namespace(objects: Sequence[Manifest], kinds: Kinds) -> list[Manifest]:
    return [each for each in objects if (kind := kinds.get((each["apiVersion"], each["kind"]))) and not kind.namespaced]


def _in_others(objects: Sequence[Manifest], kinds: Kinds, namespaces: Collection[str]) -> list[str]:
    found = [each for each in objects if _namespace(each, kinds) not in {None, *namespaces}]
    return [f"{_title(each)} in {_namespace(each, kinds)}" for each in found]


def _namespace(manifest: Manifest, kinds: Kinds) -> str | None:
    """Return the namespace that an object names; None if it names none, or belongs to none."""
    kind = kinds.get((manifest["apiVersion"], manifest["kind"]))
    named = (manifest.get("metadata") or {}).get("namespace")
    return str(named) if named and (kind is None or kind.namespaced) else None
