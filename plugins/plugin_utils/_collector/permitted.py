# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the objects of a chart, and of an installed release, are permitted: with the kinds of the API server."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import kinds_of
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.scope import foreign_objects, scope_problems
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def of_chart(
    api: KubernetesApi, collector: Collector, manifest: tuple[Manifest, ...], options: Options
) -> tuple[Finding, ...]:
    """Return what is not permitted of the objects of a chart."""
    kinds = kinds_of(api, manifest)
    return scope_problems(
        manifest, kinds, _namespaces(collector), allows_cluster_scoped=options.allow_cluster_scoped_objects
    )


def of_release(api: KubernetesApi, collector: Collector, release: Release | None, options: Options) -> tuple[str, ...]:
    """Return the objects of an installed release that its chart may not have."""
    revisions = () if release is None else (release.latest, *((release.deployed,) if release.deployed else ()))
    objects = tuple(each for revision in revisions for each in (*revision.manifest, *revision.hooks))
    return foreign_objects(
        objects,
        kinds_of(api, objects),
        _namespaces(collector),
        allows_cluster_scoped=options.allow_cluster_scoped_objects,
    )


def _namespaces(collector: Collector) -> set[str]:
    """Return the namespaces of objects; the default chart also has a Role in that of the cluster."""
    return {collector.tenant} if collector.chart else {collector.tenant, collector.namespace}
