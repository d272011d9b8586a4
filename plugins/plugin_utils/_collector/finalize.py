# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finalization of a terminating Collector: uninstall its release, and remove the finalizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import names, validate
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.act import act
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.decide import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import observe_release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import Finalizer, Plan, Step, Uninstall
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconciled import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_first import require_live_api
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def finalize(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    """Uninstall the release that belongs to this resource, and remove the finalizer. The spec may be invalid."""
    require_live_api(api)
    collector = Collector.from_resource(_with_recorded(resource))
    release, warning = _release(api, collector)
    steps: list[Step] = []
    warnings = [warning] if warning else []
    if release is not None and not collector.retains:
        steps.append(Uninstall(release, collector.release))
    elif release is not None:
        warnings.append(
            f"The release {collector.release} in namespace {collector.tenant} is kept (deletionPolicy: Retain). "
            "Remove it with: helm uninstall."
        )
    if names.FINALIZER in collector.finalizers:
        steps.append(Finalizer(is_set=False))
    deleting = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False)
    planned = Reconciled(resource, collector, Plan(tuple(steps), (deleting,), tuple(warnings)), release)
    return planned if options.check_mode else act(api, planned, options)


def _release(api: KubernetesApi, collector: Collector) -> tuple[Release | None, str]:
    """Return our release, and a warning about one that may be ours.

    A resource whose status has no release has not installed any: the status is written first.
    """
    name, namespace = collector.release, collector.tenant
    is_recorded = collector.uid is None or any(collector.recorded_release)
    if not (is_recorded and validate.is_safe_release(name) and validate.is_namespace(namespace)):
        return None, ""
    release, unreadable = observe_release(api, namespace, name)
    if unreadable:
        return None, f"The release {name} in namespace {namespace} is kept, because it cannot be read: {unreadable}."
    return (release if release is not None and is_ours(collector, release) else None), ""


def _with_recorded(resource: Manifest) -> Manifest:
    """Return the resource with the release in its status: the spec may have been changed since."""
    collector = Collector.from_resource(resource)
    namespace, name = collector.recorded_release
    if not (namespace and name):
        return resource
    specified: Mapping[str, Any] = collector.spec.get("collector") or {}
    named = {**(specified if isinstance(specified, Mapping) else {}), "name": name}
    return {**resource, "spec": {**collector.spec, "tenant": namespace, "collector": named}}
