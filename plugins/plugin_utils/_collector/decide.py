# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is to be done about a Collector. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import sentences
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import (
    FAILED,
    PENDING,
    Release,
    Revision,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import (
    DEPLOYED_LABEL,
    HELM_HOOK_ANNOTATION,
    HELM_KEEP_ANNOTATION,
    RETRY_ANNOTATION,
    Collector,
    InvalidConfig,
    decoded,
    text_of,
    values,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import (
    Chart,
    NamespaceState,
    ObjectChange,
    Observed,
    Target,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, is_allowed
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest, join_limited

# How much longer than its own timeout a run of Helm may take, until its revision counts as interrupted.
GRACE = timedelta(seconds=60)
# The API server's message about a Secret above 1 MiB: that of the revision, which so does not exist.
_TOO_LARGE = "Too long: may not be more than 1048576 bytes"
_LABEL_DIGITS = 32
# Their deletion deletes volumes, or all objects in the namespace or of the kind.
_WITH_DATA = frozenset({"PersistentVolumeClaim", "PersistentVolume", "Namespace", "CustomResourceDefinition"})


def tenant_problem(collector: Collector, allowed: Sequence[str]) -> tuple[Finding, ...]:
    """Return a finding for a tenant in another namespace, unless the administrator allows it."""
    if is_allowed(collector.tenant, collector.namespace, allowed):
        return ()
    return (
        Finding(
            reasons.REF_NOT_PERMITTED,
            f"spec.tenant: {collector.tenant} is not the namespace of this resource. The administrator has to "
            "allow it: in the module by allowed_tenant_namespaces, in the role by "
            "druid_collector_allowed_tenant_namespaces, in the operator by ALLOWED_TENANT_NAMESPACES.",
        ),
    )


def ownership_problems(collector: Collector, observed: Observed, chart: Chart) -> Iterator[Finding]:
    """Yield why the release does not belong to this resource; nothing is changed then."""
    former = collector.recorded_release
    if any(former) and former != (collector.tenant, collector.release):
        yield Finding(
            reasons.INVALID_SPEC,
            f"spec: the release was {former[1]} in namespace {former[0]}. It cannot be renamed or moved: restore "
            "spec.collector.name and spec.tenant, or create another Collector.",
        )
    older = _older(collector, observed.siblings)
    if older is not None:
        name = older["metadata"]["name"]
        yield Finding(
            reasons.DUPLICATE_COLLECTOR,
            f"Collector {name}, which is older, has the same name {collector.release} in the tenant "
            f"{collector.tenant}. Change spec.collector.name in a new resource, or delete one of the two.",
        )
    elif observed.unreadable:
        yield Finding(
            reasons.RELEASE_NOT_OWNED,
            f"The release {collector.release} in namespace {collector.tenant} cannot be read: {observed.unreadable}. "
            "Remove it, or choose another spec.collector.name.",
        )
    elif observed.release is not None:
        yield from _foreign(collector, observed, observed.release, chart)


def _foreign(collector: Collector, observed: Observed, release: Release, chart: Chart) -> Iterator[Finding]:
    what = f"The release {collector.release} in namespace {collector.tenant}"
    if observed.owner is not None:
        metadata = observed.owner["metadata"]
        owner = f"Collector {metadata['namespace']}/{metadata['name']}"
        yield Finding(
            reasons.DUPLICATE_COLLECTOR, f"{what} belongs to {owner}. Choose another spec.collector.name, or delete it."
        )
    elif not is_ours(collector, release, chart) and not collector.takes_over:
        yield Finding(
            reasons.RELEASE_NOT_OWNED,
            f"{what} was not created by this resource. Set spec.takeOver to take it over, or choose another "
            "spec.collector.name.",
        )
    elif not is_ours(collector, release, chart) and release.latest.chart != chart.name:
        yield Finding(
            reasons.RELEASE_NOT_OWNED,
            f"{what} is of the chart {release.latest.chart}, not of {chart.name}. It is not taken over. Choose another "
            "spec.collector.name.",
        )


def is_ours(collector: Collector, release: Release, chart: Chart | None) -> bool:
    """Return whether the release belongs to this resource: by its mark.

    A release without a mark is one whose installation was interrupted, if the status has recorded that. As the status
    may be written by others, the release must also have the specified name and chart, and be younger than the resource.
    Without a chart, only the mark counts.
    """
    if release.owner is not None:
        return release.owner == (collector.namespace, collector.name)
    is_recorded = collector.recorded_release == (collector.tenant, collector.release)
    if chart is None or not is_recorded or release.latest.chart != chart.name:
        return False
    return collector.installed_chart == release.latest.chart_title and release.created >= collector.created


def is_installing(collector: Collector, release: Release | None, chart: Chart) -> bool:
    """Return whether the release is ours by our record only, because its installation was interrupted."""
    return release is not None and release.owner is None and is_ours(collector, release, chart)


def _older(collector: Collector, siblings: Sequence[Manifest]) -> Manifest | None:
    """Return an older resource with the same release."""
    own = (collector.created, collector.name)
    for each in siblings:
        other = Collector.from_resource(each)
        is_same = (other.tenant, other.release) == (collector.tenant, collector.release)
        if other.uid != collector.uid and is_same and (other.created, other.name) < own:
            return each
    return None


def target(collector: Collector, observed: Observed, chart: Chart) -> Target | Finding:
    """Return what is to be deployed, or why that is not known."""
    if collector.cluster and observed.druid is None:
        return Finding(
            reasons.CLUSTER_NOT_FOUND,
            f"spec.cluster: there is no Druid {collector.cluster} in namespace {collector.namespace}. Create it, or "
            "remove the field.",
        )
    try:
        config = _config(collector, observed)
    except InvalidConfig as error:
        return Finding(reasons.INVALID_SPEC, f"{_place(collector)}: {error}")
    if collector.source is not None and config is None:
        source = collector.source
        return Finding(
            reasons.REFERENCE_NOT_FOUND,
            f"{source.field}: there is no {source.kind} {source.name} with the key {source.key} in namespace "
            f"{collector.namespace}. Create it, or change the reference.",
        )
    missing = [name for name, secret in observed.environment.items() if secret is None]
    if missing:
        return Finding(
            reasons.REFERENCE_NOT_FOUND,
            f"spec.values.environmentSecrets: there is no Secret {join_limited(missing)} in namespace "
            f"{collector.tenant}. Create it, or remove its name.",
        )
    environment = tuple(observed.environment.values())
    return Target(collector.release, collector.tenant, chart, values(collector, config, observed.druid, environment))


def _place(collector: Collector) -> str:
    return collector.source.field if collector.source else "spec.collector.config"


def _config(collector: Collector, observed: Observed) -> str | None:
    source = collector.source
    text = collector.config
    if source is not None:
        text = text_of(observed.source, source.key) if observed.source else None
    return None if text is None else decoded(text, collector.is_base64)


def attempt_digest(desired: Target, annotations: Mapping[str, str]) -> str:
    """Return the identity of an attempt to deploy: a failed one is not repeated until it changes."""
    chart = desired.chart
    retry = annotations.get(RETRY_ANNOTATION, "")
    return digest([chart.reference, chart.repository, chart.version, desired.values, retry])


def is_deployed(desired: Target, release: Release | None) -> Revision | None:
    """Return the deployed revision if it has this chart and these values.

    Helm may have stored other values than it was given, such as a rounded number, and a repository may return another
    version than the requested one: then the label identifies them.
    """
    revision = release.deployed if release else None
    if revision is None:
        return None
    if revision.labels.get(DEPLOYED_LABEL) == deployed_label(desired, revision):
        return revision
    return revision if _is_alike(desired, revision) else None


def _is_alike(desired: Target, revision: Revision) -> bool:
    is_same_chart = (revision.chart, revision.chart_version) == (desired.chart.name, desired.chart.version)
    # As JSON: for Python, true is 1.
    return is_same_chart and digest(revision.values) == digest(desired.values)


def chart_mismatch(desired: Target, deployed: Revision) -> tuple[Finding, ...]:
    """Return a finding if the repository has returned another chart than the one that was requested."""
    if deployed.chart_title == desired.chart.title:
        return ()
    return (
        Finding(
            reasons.INVALID_SPEC,
            f"spec.chart: for version {desired.chart.version} of {desired.chart.name}, the repository has returned "
            f"version {deployed.chart_version} of {deployed.chart}, which is deployed. Specify these.",
        ),
    )


def deployed_label(desired: Target, revision: Revision) -> str:
    """Return the label of the revision that was deployed with these values."""
    return f"{digest([desired.chart.title, desired.values])[:_LABEL_DIGITS]}.{revision.number}"


def has_attempted(before: Release | None, after: Release | None, message: str) -> bool:
    """Return whether a failed run of Helm has tried: otherwise it is repeated, since the cause may be gone by then.

    An outage, another run of Helm and a missing permission let it create no revision. A Helm that was killed leaves one
    that is pending.
    """
    if _TOO_LARGE in message:
        return True
    if after is None or after.latest.state in PENDING:
        return False
    return before is None or after.latest.number > before.latest.number


def failed_before(collector: Collector, desired: Target) -> Finding | None:
    """Return the failure of the same attempt."""
    failed = collector.failed_attempt
    if not failed or failed.get("digest") != attempt_digest(desired, collector.annotations):
        return None
    return Finding(
        reasons.HELM_FAILED,
        sentences(
            str(failed.get("message")),
            "It is not repeated until the resource or what it refers to changes; to repeat it, set the annotation "
            f"{RETRY_ANNOTATION} to a new value",
        ),
    )


def rejected(problem: str) -> Finding:
    """Return the finding about an object that Helm could not write."""
    return Finding(reasons.HELM_FAILED, f"{problem} Helm was not run. Change the resource.")


def foreign_objects(collector: Collector, found: Sequence[str]) -> Finding:
    """Return the finding about objects of the installed release that Helm would delete in an upgrade."""
    return Finding(
        reasons.REF_NOT_PERMITTED,
        f"The release {collector.release} in namespace {collector.tenant} has objects that its chart may not have: "
        f"{join_limited(found)}. It is not upgraded, because Helm would delete them. Examine the release (helm get "
        "manifest), and remove the Secrets of its revisions, or uninstall it.",
    )


def namespace_problem(collector: Collector, state: NamespaceState) -> Finding | None:
    """Return a finding for a namespace in which nothing can be created."""
    if state == "active":
        return None
    if state == "missing":
        return Finding(
            reasons.TENANT_NOT_FOUND,
            f"There is no namespace {collector.tenant}. Create it: this resource does not create namespaces.",
        )
    return Finding(reasons.TENANT_TERMINATING, f"The namespace {collector.tenant} is being deleted.")


def interrupted(release: Release | None, now: datetime, timeout: float) -> Revision | Finding | None:
    """Return the latest revision if the run that created it was interrupted; a finding while it may still run."""
    if release is None or release.latest.state not in PENDING:
        return None
    # Helm writes this time when it begins.
    if seconds_since(release.latest.updated, now) > timeout + GRACE.total_seconds():
        return release.latest
    return Finding(
        reasons.RELEASE_PENDING,
        f"Another run of Helm changes the release: its revision {release.latest.number} is {release.latest.state}.",
    )


def failed_last(release: Release | None) -> Revision | None:
    """Return the latest revision if it failed. Its record is removed before the next one, with what only it has.

    Helm would not know the objects of a failed upgrade, and kubernetes.core.helm before version 6 takes it for
    deployed.
    """
    latest = release.latest if release else None
    return latest if latest and latest.state == FAILED else None


def has_deployed(desired: Target, before: Release | None, after: Revision) -> bool:
    """Return whether Helm has deployed this revision, or it is as specified.

    kubernetes.core.helm does nothing if it takes the values for the same: for Python, true is 1.
    """
    return before is None or after.number > before.latest.number or _is_alike(desired, after)


def left_objects(stale: Revision, rendered: Sequence[Manifest], release: Release | None) -> tuple[ObjectChange, ...]:
    """Return the objects of an interrupted revision that no later one has: Helm would never delete them.

    An interrupted installation begins again from nothing: Helm would keep fields that only its objects have.
    """
    deployed = release.deployed if release else None
    known = {_key(each) for each in (*rendered, *deployed.manifest)} if deployed else set()
    return tuple(ObjectChange(each, None) for each in stale.manifest if _key(each) not in known)


def object_changes(rendered: Sequence[Manifest], release: Release | None) -> tuple[ObjectChange, ...]:
    """Return how the objects of the deployed revision would change; hooks are not objects of the release."""
    before = {_key(each): each for each in (release.deployed.manifest if release and release.deployed else ())}
    after = {_key(each): each for each in rendered if not is_hook(each)}
    changes = (ObjectChange(before.get(key), after.get(key)) for key in sorted({*before, *after}))
    return tuple(each for each in changes if each.before != each.after)


def is_hook(manifest: Manifest) -> bool:
    """Return whether Helm writes the object by itself, before or after the release."""
    return HELM_HOOK_ANNOTATION in (manifest["metadata"].get("annotations") or {})


def is_kept(manifest: Manifest) -> bool:
    """Return whether Helm leaves the object when its release has it no longer."""
    return (manifest["metadata"].get("annotations") or {}).get(HELM_KEEP_ANNOTATION) == "keep"


def has_data(manifest: Manifest) -> bool:
    """Return whether data is lost when Helm deletes the object: its own, or that of the objects in it."""
    return manifest["kind"] in _WITH_DATA and not is_kept(manifest)


def _key(manifest: Manifest) -> tuple[Any, ...]:
    metadata = manifest.get("metadata") or {}
    return manifest["kind"], metadata.get("namespace") or "", metadata.get("name") or ""
