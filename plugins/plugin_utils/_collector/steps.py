# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of a Collector: Helm deploys and uninstalls, and single objects and marks are written besides."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import Confidential
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import sentences
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import status
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.decide import (
    attempt_digest,
    chart_mismatch,
    deployed_label,
    has_attempted,
    has_data,
    has_deployed,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import (
    FAILED,
    UNINSTALLING,
    HelmError,
    Release,
    Revision,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import DEPLOYED_LABEL, Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import (
    CollectorResult,
    ObjectChange,
    Objects,
    Target,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    FORBIDDEN,
    ApiError,
    KubernetesError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import marked
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import MIDDLE, excerpt

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

_MAX_MESSAGE = 1024


@dataclass(frozen=True, kw_only=True)
class Context(plan.Context):
    """What steps are carried out with, and the reconcile so far."""

    state: CollectorResult
    options: Options

    @property
    def objects(self) -> KubernetesApi:
        """The connection for the objects of the release."""
        return self.options.connection_of(self.api, self.state.collector.tenant)

    @property
    def reads(self) -> Reads:
        """A reader that knows nothing yet: the steps before have changed what was read."""
        from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

        return Reads(self.api, self.state.collector.namespace)

    def release(self) -> tuple[Release | None, str]:
        """Return the release as it is now, and why it cannot be read."""
        from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import observe_release

        return observe_release(self.reads, self.state.collector.tenant, self.state.collector.release)

    def latest_problem(self) -> str:
        """Return the latest warning about a pod of the release; empty if there is none."""
        from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import latest_problem

        return latest_problem(self.reads, self.state.collector)

    def delete(self, objects: KubernetesApi, manifest: Manifest) -> None:
        """Delete an object, if it belongs to the release."""
        from ansible_collections.druidops.druid.plugins.plugin_utils._collector.drift import delete_object

        delete_object(objects, manifest, self.state.collector.release, self.state.collector.tenant)


class Step(plan.Step):
    """A step of a Collector: `carry_out` returns the reconcile after it. `objects` are those that change with it."""

    objects: tuple[ObjectChange, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        return (self.title, *(f"{each.title}{plan.DESTRUCTIVE if _loses_data(each) else ''}" for each in self.objects))

    @property
    def is_destructive(self) -> bool:
        return any(map(_loses_data, self.objects))

    @property
    def differences(self) -> tuple[plan.Difference, ...]:
        return tuple(map(_difference, self.objects))

    def carry_out(self, context: Any) -> plan.StepResult[Step]:
        """Return the reconcile after the step; after a failure of Helm, with the release as Helm has left it."""
        before: CollectorResult = self.begun(context)
        try:
            return self._tried(replace(context, state=before))
        except KubernetesError as error:
            return plan.StepResult(self, error=str(error), state=before)

    def _tried(self, context: Context) -> plan.StepResult[Step]:
        try:
            return plan.StepResult(self, state=self.result(context))
        except HelmError as error:
            why = context.latest_problem()
            message = sentences(str(error), why) if why else str(error)
            state = _after_failure(context, message)
            return plan.StepResult(self, error=message, reason=reasons.HELM_FAILED, state=state)

    def begun(self, context: Context) -> CollectorResult:
        """Return the reconcile after what is recorded before the step."""
        return context.state

    @abstractmethod
    def result(self, context: Context) -> CollectorResult:
        """Return the reconcile after the step; KubernetesError or HelmError if it failed."""


def act(api: KubernetesApi, planned: CollectorResult, options: Options) -> CollectorResult:
    """Carry out the steps in order; return the reconcile with the completed ones, and a finding about a failed one."""
    return planned.after(plan.execute(planned.plan.steps, Context(api=api, state=planned, options=options)))


def _after_failure(context: Context, message: str) -> CollectorResult:
    """Return the reconcile with the release as Helm has left it, and the attempt."""
    before, (release, _unreadable) = context.state, context.release()
    failed: Mapping[str, Any] = before.failed_attempt
    if before.desired is not None and has_attempted(before.release, release, message):
        digest = attempt_digest(before.desired, before.collector.annotations)
        failed = {"digest": digest, "message": excerpt(message, _MAX_MESSAGE, MIDDLE)}
    is_installing = before.is_installing and release is not None
    return replace(before, release=release, is_installing=is_installing, failed_attempt=failed)


@dataclass(frozen=True)
class RemovePending(Step):
    """Remove the record of a revision that was interrupted or failed: while one is pending, Helm refuses all else.

    `objects` are those that it may have created, and that Helm knows from no other revision.
    """

    revision: Revision
    objects: tuple[ObjectChange, ...] = ()

    operation = plan.Operation(reason=reasons.INTERRUPTED_REVISION_REMOVED)

    @property
    def title(self) -> str:
        what = "failed" if self.revision.state == FAILED else "interrupted"
        return f"remove the {what} revision {self.revision.number} ({self.revision.state})"

    def result(self, context: Context) -> CollectorResult:
        collector = context.state.collector
        connection = context.objects
        for change in self.objects:
            context.delete(connection, change.before or {})
        metadata = self.revision.secret["metadata"]
        context.api.delete("Secret", metadata["namespace"], metadata["name"], metadata["uid"])
        release, unreadable = context.release()
        if unreadable:
            raise HelmError(f"The release {collector.release} cannot be read: {unreadable}.")
        return replace(context.state, release=release)


@dataclass(frozen=True)
class Deploy(Step):
    """Install or upgrade the release, with all that follows from it."""

    verb: Literal["install", "upgrade"]
    target: Target
    objects: tuple[ObjectChange, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.verb} release {self.target.release} of chart {self.target.chart.title}"

    @property
    def operation(self) -> plan.Operation:
        reason = reasons.RELEASE_INSTALLED if self.verb == "install" else reasons.RELEASE_UPGRADED
        return plan.Operation(reason=reason, counted="applied")

    def begun(self, context: Context) -> CollectorResult:
        """Record in the status that Helm is run, which may take minutes: until then, the former specification is there.

        Until the mark of a release, nothing else shows that its installation has begun. Helm copies it to later
        revisions.
        """
        from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import write_status

        before = context.state
        collector = before.collector
        if collector.uid is None:
            return before
        recorded = {**collector.status, "conditions": status.deploying(collector, self.title, datetime.now(UTC))}
        is_new = before.release is None
        if is_new:
            record = {"name": collector.release, "namespace": collector.tenant, "chart": self.target.chart.title}
            recorded["release"] = {**record, "installing": True}
        write_status(context.api, before.resource, recorded)
        resource = {**before.resource, "status": recorded}
        known = replace(before, resource=resource, collector=Collector.from_resource(resource))
        return replace(known, is_installing=True) if is_new else known

    def result(self, context: Context) -> CollectorResult:
        """Have Helm deploy, and mark the revision. If that is interrupted, the status has the record of who did it."""
        from ansible_collections.druidops.druid.plugins.plugin_utils._collector.drift import restarted

        options, before = context.options, context.state
        options.helm.deploy(self.target, options.helm_timeout, skip_crds=not options.allow_cluster_scoped_objects)
        release, unreadable = context.release()
        not_deployed = f"Helm has not deployed the release {self.target.release}"
        if release is None or release.deployed is None:
            raise HelmError(f"{not_deployed}: {unreadable or 'there is no revision'}.")
        if not has_deployed(self.target, before.release, release.deployed):
            raise HelmError(
                f"{not_deployed}: kubernetes.core.helm takes the values for those of revision "
                f"{release.deployed.number}. Change another value as well."
            )
        _label(context.api, before, release.deployed)
        waiting = tuple(name for each in release.deployed.manifest for name in restarted(each, "deployed"))
        result = replace(before, release=release, is_installing=False, objects=Objects(unavailable=waiting))
        return result.with_findings(*chart_mismatch(self.target, release.deployed))


@dataclass(frozen=True)
class Mark(Step):
    """Record in the Secret of a revision that it belongs to this Collector."""

    revision: Revision
    release: str

    operation = plan.Operation(reason=reasons.RELEASE_TAKEN_OVER)

    @property
    def title(self) -> str:
        return f"take over release {self.release}"

    def result(self, context: Context) -> CollectorResult:
        _label(context.api, context.state, self.revision)
        return replace(context.state, is_installing=False)


def _label(api: KubernetesApi, result: CollectorResult, revision: Revision) -> None:
    deployed = {} if result.desired is None else {DEPLOYED_LABEL: deployed_label(result.desired, revision)}
    desired = {**revision.labels, **result.collector.owner_labels, **deployed}
    if desired == revision.labels:
        return
    metadata = revision.secret["metadata"]
    operations: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        {"op": "add", "path": "/metadata/labels", "value": desired},
    ]
    api.json_patch("Secret", metadata["namespace"], metadata["name"], operations)


@dataclass(frozen=True)
class Restore(Step):
    """Write an object of the release that was changed or deleted since its revision."""

    change: ObjectChange
    revision: Revision

    operation = plan.Operation(reason=reasons.OBJECT_RESTORED, counted="applied")

    @property
    def title(self) -> str:
        return f"{self.change.title}, which differs from the release"

    @property
    def differences(self) -> tuple[plan.Difference, ...]:
        return (_difference(self.change),)

    def result(self, context: Context) -> CollectorResult:
        from ansible_collections.druidops.druid.plugins.plugin_utils._collector.drift import restarted, restore

        collector, objects = context.state.collector, context.state.objects
        restore(context.objects, self.revision.manifest, self.change, collector.release, collector.tenant)
        unavailable = (*objects.unavailable, *restarted(self.change.after or {}, "restored"))
        return replace(context.state, objects=replace(objects, unavailable=unavailable))


@dataclass(frozen=True)
class Uninstall(Step):
    """Uninstall the release."""

    release: Release
    name: str

    operation = plan.Operation(reason=reasons.RELEASE_UNINSTALLED, counted="removed")

    @property
    def title(self) -> str:
        return f"uninstall release {self.name}"

    @property
    def lines(self) -> tuple[str, ...]:
        return (f"{self.title}{plan.DESTRUCTIVE if self.is_destructive else ''}",)

    @property
    def is_destructive(self) -> bool:
        return any(map(has_data, self.release.latest.manifest))

    def result(self, context: Context) -> CollectorResult:
        """Have Helm uninstall, or remove what it has left of a release that it had begun to uninstall."""
        latest, namespace = self.release.latest, self.release.latest.secret["metadata"]["namespace"]
        if latest.state != UNINSTALLING:
            context.options.helm.uninstall(self.name, namespace)
            return replace(context.state, release=None)
        connection = context.objects
        for manifest in latest.manifest:
            try:
                context.delete(connection, manifest)
            except ApiError as error:
                if not _is_deleted_with_its_namespace(context.reads, error, manifest, namespace):
                    raise
        for metadata in (secret["metadata"] for secret in self.release.secrets):
            connection.delete("Secret", namespace, metadata["name"], metadata["uid"])
        return replace(context.state, release=None)


def _is_deleted_with_its_namespace(reads: Reads, error: ApiError, manifest: Manifest, tenant: str) -> bool:
    """Return whether the permission is missing because the namespace of the object, not that of the release, goes."""
    from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import is_deleted_namespace

    namespace = manifest["metadata"].get("namespace") or tenant
    return error.status == FORBIDDEN and namespace != tenant and is_deleted_namespace(reads, namespace)


def _loses_data(change: ObjectChange) -> bool:
    return change.before is not None and change.after is None and has_data(change.before)


def _difference(change: ObjectChange) -> plan.Difference:
    before, after = (marked(_confidential(each)) for each in change)
    return plan.Difference(change.title.partition(" ")[2], before, after)


def _confidential(manifest: Any) -> Any:
    """Return the object with its data as secrets, if it is a Secret."""
    if not manifest or manifest.get("kind") != "Secret":
        return manifest
    fields = ("data", "stringData")
    hidden = {field: _hidden(manifest[field]) for field in fields if isinstance(manifest.get(field), Mapping)}
    return {**manifest, **hidden}


def _hidden(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: Confidential(str(value)) for name, value in data.items()}
