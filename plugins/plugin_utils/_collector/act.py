# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry out a plan step by step: a failed step stops the ones after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import drift, names
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.decide import attempt_digest, deployed_label
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm_modules import HelmError
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import observe_release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import (
    Deploy,
    Finalizer,
    Mark,
    RemovePending,
    Restore,
    Step,
    Uninstall,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconciled import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.uninstall import uninstall
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.finalizer import finalizer_patch
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import write_status

_MAX_MESSAGE = 1024


def act(api: KubernetesApi, planned: Reconciled, options: Options) -> Reconciled:
    """Carry out the steps in order; return the reconcile with the completed ones, and a finding about a failed one."""
    done = replace(planned, plan=replace(planned.plan, steps=()))
    for step in planned.plan.steps:
        try:
            done = _STEPS[type(step)](api, done, step, options)
        except KubernetesError as error:
            return _failed(done, Finding(reasons.APPLY_FAILED, str(error)))
        except HelmError as error:
            return _failed(_after_failure(api, done), Finding(reasons.HELM_FAILED, str(error)))
        done = replace(done, plan=replace(done.plan, steps=(*done.plan.steps, step)))
    return done


def _failed(done: Reconciled, finding: Finding) -> Reconciled:
    failed: Mapping[str, Any] = done.failed_attempt
    if finding.reason == reasons.HELM_FAILED and done.desired is not None:
        digest = attempt_digest(done.desired, done.collector.annotations)
        failed = {"digest": digest, "message": finding.message[:_MAX_MESSAGE]}
    return replace(done, plan=replace(done.plan, findings=(*done.plan.findings, finding)), failed_attempt=failed)


def _after_failure(api: KubernetesApi, done: Reconciled) -> Reconciled:
    """Return the reconcile with the release that Helm has restored; it keeps our mark."""
    release, _unreadable = observe_release(api, done.collector.tenant, done.collector.release)
    return replace(done, release=release)


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


def _remove_pending(api: KubernetesApi, done: Reconciled, step: RemovePending, _options: Options) -> Reconciled:
    metadata = step.revision.secret["metadata"]
    api.delete("Secret", metadata["namespace"], metadata["name"], metadata["uid"])
    return done


def _deploy(api: KubernetesApi, done: Reconciled, step: Deploy, options: Options) -> Reconciled:
    """Have Helm deploy, and mark the revision. If that is interrupted, the record in the status shows who did it."""
    desired = done.desired
    if desired is None:
        raise TypeError(step)
    done = _record(api, done)
    options.helm.deploy(desired, options.helm_timeout, skip_crds=not options.allow_cluster_scoped_objects)
    release, unreadable = observe_release(api, done.collector.tenant, done.collector.release)
    if release is None or release.deployed is None:
        raise HelmError(f"Helm has not deployed the release {step.release}: {unreadable or 'there is no revision'}.")
    _label(api, done, release.deployed)
    return replace(done, release=release)


def _record(api: KubernetesApi, done: Reconciled) -> Reconciled:
    """Record in the status which release is ours, before it exists."""
    collector = done.collector
    if collector.uid is None or collector.recorded_release == (collector.tenant, collector.release):
        return done
    status = {**collector.status, "release": {"name": collector.release, "namespace": collector.tenant}}
    write_status(api, done.resource, status)
    return done


def _mark(api: KubernetesApi, done: Reconciled, step: Mark, _options: Options) -> Reconciled:
    _label(api, done, step.revision)
    return done


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


def _restore(api: KubernetesApi, done: Reconciled, step: Restore, _options: Options) -> Reconciled:
    revision = done.release.deployed if done.release else None
    if revision is None:
        raise TypeError(step)
    collector = done.collector
    drift.restore(api, revision.manifest, step.change, collector.release, collector.tenant)
    return done


def _uninstall(api: KubernetesApi, done: Reconciled, step: Uninstall, options: Options) -> Reconciled:
    uninstall(api, options.helm, step.release, step.name)
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
