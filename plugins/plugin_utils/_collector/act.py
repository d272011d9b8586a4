# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry out a plan step by step: a failed step stops the ones after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import sentences
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import drift, names
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.account import connection_of
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.decide import (
    attempt_digest,
    chart_mismatch,
    deployed_label,
    has_attempted,
    has_deployed,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm_modules import HelmError
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import (
    is_deleted_namespace,
    kinds_of,
    latest_problem,
    observe_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import (
    Deploy,
    Mark,
    Objects,
    RemovePending,
    Restore,
    Step,
    Uninstall,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconciled import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release, Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.status import deploying
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    FORBIDDEN,
    ApiError,
    KubernetesError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.finalizer import finalizer_patch
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import write_status
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import Finalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._values.excerpt import MIDDLE, excerpt

_MAX_MESSAGE = 1024


def act(api: KubernetesApi, planned: Reconciled, options: Options) -> Reconciled:
    """Carry out the steps in order; return the reconcile with the completed ones, and a finding about a failed one."""
    done = replace(planned, plan=replace(planned.plan, steps=()))
    for step in planned.plan.steps:
        try:
            done = _recorded(api, done, step)
            done = _STEPS[type(step)](api, done, step, options)
        except KubernetesError as error:
            return done.with_findings(Finding(reasons.APPLY_FAILED, str(error)))
        except HelmError as error:
            why = latest_problem(api, done.collector)
            return _after_failure(api, done, sentences(str(error), why) if why else str(error))
        done = replace(done, plan=replace(done.plan, steps=(*done.plan.steps, step)))
    return done


def _after_failure(api: KubernetesApi, before: Reconciled, message: str) -> Reconciled:
    """Return the reconcile with the release as Helm has left it, and the attempt."""
    release, _unreadable = observe_release(api, before.collector.tenant, before.collector.release)
    failed: Mapping[str, Any] = before.failed_attempt
    if before.desired is not None and has_attempted(before.release, release, message):
        digest = attempt_digest(before.desired, before.collector.annotations)
        failed = {"digest": digest, "message": excerpt(message, _MAX_MESSAGE, MIDDLE)}
    is_installing = before.is_installing and release is not None
    done = replace(before, release=release, is_installing=is_installing, failed_attempt=failed)
    return done.with_findings(Finding(reasons.HELM_FAILED, message))


def _set_finalizer(api: KubernetesApi, done: Reconciled, step: Finalizer, _options: Options) -> Reconciled:
    """Return the reconcile with the resource after the change; without a finalizer it may be deleted already."""
    metadata = done.resource["metadata"]
    operations = finalizer_patch(done.resource, names.FINALIZER, is_desired=step.is_set)
    try:
        resource = api.json_patch(names.KIND, metadata["namespace"], metadata["name"], operations)
    except ApiError as error:
        if not error.is_missing_object or step.is_set:
            raise
        resource = done.resource
    return replace(done, resource=resource, is_deleted=not step.is_set)


def _remove_pending(api: KubernetesApi, done: Reconciled, step: RemovePending, options: Options) -> Reconciled:
    collector = done.collector
    connection = connection_of(api, options.user_of(collector.tenant))
    for change in step.objects:
        delete_object(connection, change.before or {}, collector.release, collector.tenant)
    metadata = step.revision.secret["metadata"]
    api.delete("Secret", metadata["namespace"], metadata["name"], metadata["uid"])
    release, unreadable = observe_release(api, done.collector.tenant, done.collector.release)
    if unreadable:
        raise HelmError(f"The release {done.collector.release} cannot be read: {unreadable}.")
    return replace(done, release=release)


def _deploy(api: KubernetesApi, done: Reconciled, step: Deploy, options: Options) -> Reconciled:
    """Have Helm deploy, and mark the revision. If that is interrupted, the record in the status shows who did it."""
    options.helm.deploy(step.target, options.helm_timeout, skip_crds=not options.allow_cluster_scoped_objects)
    release, unreadable = observe_release(api, done.collector.tenant, done.collector.release)
    if release is None or release.deployed is None:
        raise HelmError(
            f"Helm has not deployed the release {step.target.release}: {unreadable or 'there is no revision'}."
        )
    if not has_deployed(step.target, done.release, release.deployed):
        raise HelmError(
            f"Helm has not deployed the release {step.target.release}: kubernetes.core.helm takes the values for those "
            f"of revision {release.deployed.number}. Change another value as well."
        )
    _label(api, done, release.deployed)
    restarted = tuple(name for each in release.deployed.manifest for name in drift.restarted(each, "deployed"))
    done = replace(done, release=release, is_installing=False, objects=Objects(unavailable=restarted))
    return done.with_findings(*chart_mismatch(step.target, release.deployed))


def _recorded(api: KubernetesApi, done: Reconciled, step: Step) -> Reconciled:
    """Record in the status that Helm is run, which may take minutes: until then, the former specification is deployed.

    Until the mark of a release, nothing else shows that its installation has begun. Helm copies it to later revisions.
    """
    collector = done.collector
    if not isinstance(step, Deploy) or collector.uid is None:
        return done
    recorded = {**collector.status, "conditions": deploying(collector, step, datetime.now(UTC))}
    is_new = done.release is None
    if is_new:
        record = {"name": collector.release, "namespace": collector.tenant, "chart": step.target.chart.title}
        recorded["release"] = {**record, "installing": True}
    write_status(api, done.resource, recorded)
    resource = {**done.resource, "status": recorded}
    known = replace(done, resource=resource, collector=Collector.from_resource(resource))
    return replace(known, is_installing=True) if is_new else known


def _mark(api: KubernetesApi, done: Reconciled, step: Mark, _options: Options) -> Reconciled:
    _label(api, done, step.revision)
    return replace(done, is_installing=False)


def _label(api: KubernetesApi, done: Reconciled, revision: Revision) -> None:
    deployed = {} if done.desired is None else {names.DEPLOYED_LABEL: deployed_label(done.desired, revision)}
    desired = {**revision.labels, **done.collector.owner_labels, **deployed}
    if desired == revision.labels:
        return
    metadata = revision.secret["metadata"]
    operations: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        {"op": "add", "path": "/metadata/labels", "value": desired},
    ]
    api.json_patch("Secret", metadata["namespace"], metadata["name"], operations)


def _restore(api: KubernetesApi, done: Reconciled, step: Restore, options: Options) -> Reconciled:
    collector = done.collector
    connection = connection_of(api, options.user_of(collector.tenant))
    drift.restore(connection, step.revision.manifest, step.change, collector.release, collector.tenant)
    objects = done.objects
    unavailable = (*objects.unavailable, *drift.restarted(step.change.after or {}, "restored"))
    return replace(done, objects=replace(objects, unavailable=unavailable))


def _uninstall(api: KubernetesApi, done: Reconciled, step: Uninstall, options: Options) -> Reconciled:
    uninstall(api, options, step.release, step.name)
    return replace(done, release=None)


# How each kind of step is carried out; each returns the reconcile after it.
_STEPS: Mapping[type[Step], Callable[[KubernetesApi, Reconciled, Any, Options], Reconciled]] = {
    Finalizer: _set_finalizer,
    RemovePending: _remove_pending,
    Deploy: _deploy,
    Mark: _mark,
    Restore: _restore,
    Uninstall: _uninstall,
}


# kubernetes.core.helm does nothing about a release in this state.
_UNINSTALLING = "uninstalling"
_KEEP_ANNOTATION = "helm.sh/resource-policy"


def uninstall(api: KubernetesApi, options: Options, release: Release, name: str) -> None:
    """Uninstall the release."""
    namespace = release.latest.secret["metadata"]["namespace"]
    if release.latest.state != _UNINSTALLING:
        options.helm.uninstall(name, namespace)
        return
    connection = connection_of(api, options.user_of(namespace))
    for manifest in release.latest.manifest:
        try:
            delete_object(connection, manifest, name, namespace)
        except ApiError as error:
            if not _is_deleted_with_its_namespace(api, error, manifest, namespace):
                raise
    for metadata in (secret["metadata"] for secret in release.secrets):
        connection.delete("Secret", namespace, metadata["name"], metadata["uid"])


def _is_deleted_with_its_namespace(api: KubernetesApi, error: ApiError, manifest: Manifest, tenant: str) -> bool:
    """Return whether the permission is missing because the namespace of the object, not that of the release, goes."""
    namespace = manifest["metadata"].get("namespace") or tenant
    return error.status == FORBIDDEN and namespace != tenant and is_deleted_namespace(api, namespace)


def delete_object(api: KubernetesApi, manifest: Manifest, release: str, namespace: str) -> None:
    """Delete an object if it exists and belongs to the release."""
    kind = kinds_of(api, [manifest]).get((manifest["apiVersion"], manifest["kind"]))
    if kind is None or (manifest["metadata"].get("annotations") or {}).get(_KEEP_ANNOTATION) == "keep":
        return
    where = (manifest["metadata"].get("namespace") or namespace) if kind.namespaced else None
    connection = api.with_kinds({manifest["kind"]: kind})
    live = connection.get(manifest["kind"], where, manifest["metadata"]["name"])
    annotations = (live["metadata"].get("annotations") or {}) if live else {}
    owner = (annotations.get(names.HELM_NAMESPACE_ANNOTATION), annotations.get(names.HELM_RELEASE_ANNOTATION))
    if live is not None and owner == (namespace, release):
        connection.delete(manifest["kind"], where, manifest["metadata"]["name"], live["metadata"]["uid"])
