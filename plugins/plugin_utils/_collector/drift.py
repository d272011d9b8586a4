# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The live objects of a release: compared with its manifest, restored, deleted.

They are compared by a dry run of an apply, so that defaults do not differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.decide import is_hook, is_kept
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import (
    HELM_NAMESPACE_ANNOTATION,
    HELM_RELEASE_ANNOTATION,
    MANAGED_BY_LABEL,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import ObjectChange, Objects
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    BAD_REQUEST,
    UNPROCESSABLE,
    ApiError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    FIELD_MANAGER,
    ApiResource,
    Manifest,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import mapping

# The server's message about a field that the kind does not have.
_NOT_TYPED = "failed to create typed patch object"
# So that the name of a Service has at most 63 characters.
_LONGEST_STEM = 55
# What a dry run changes besides the specified fields.
_BOOKKEEPING = frozenset({"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"})
# Which workloads have pods, where their desired number is, and those in the status: available, all, updated ones.
_COUNTED: Mapping[str, tuple[str, str, tuple[str, str, str]]] = {
    "Deployment": ("spec", "replicas", ("availableReplicas", "replicas", "updatedReplicas")),
    "StatefulSet": ("spec", "replicas", ("availableReplicas", "replicas", "updatedReplicas")),
    "DaemonSet": (
        "status",
        "desiredNumberScheduled",
        ("numberAvailable", "currentNumberScheduled", "updatedNumberScheduled"),
    ),
}


def compare_objects(api: KubernetesApi, manifest: Sequence[Manifest], release: str, namespace: str) -> Objects:
    """Compare the live objects with the manifest of the release. Nothing is written."""
    kinds = kinds_of(api, manifest)
    found = Objects()
    for each in manifest:
        kind = kinds.get((each["apiVersion"], each["kind"]))
        one = Objects(problems=(_unknown(each),))
        if kind is not None:
            desired = with_helms_mark(each, kind, release, namespace)
            one = _compare(api.with_kinds({each["kind"]: kind}), desired)
        found = Objects(
            (*found.changes, *one.changes),
            (*found.problems, *one.problems),
            (*found.unavailable, *one.unavailable),
            (*found.warnings, *one.warnings),
        )
    return found


def _compare(api: KubernetesApi, desired: Manifest) -> Objects:
    """Compare one object, which `api` knows the kind of."""
    live = api.get(desired["kind"], desired["metadata"].get("namespace"), desired["metadata"]["name"])
    if live is None:
        return Objects() if is_temporary(desired) else Objects(changes=(ObjectChange(None, desired),))
    desired = without_scaled(desired, live)
    try:
        predicted = api.apply(desired, dry_run=True)
    except ApiError as error:
        if error.status == UNPROCESSABLE:
            return Objects(problems=(_unchangeable(desired, error),))
        if _NOT_TYPED in error.message:
            return Objects(unavailable=tuple(_unavailable(live)), warnings=(_not_compared(desired, error),))
        raise
    if _compared(live) != _compared(predicted):
        return Objects(changes=(ObjectChange(live, predicted),))
    return Objects(unavailable=tuple(_unavailable(live)))


def rejected_object(api: KubernetesApi, rendered: Sequence[Manifest], release: str, namespace: str) -> str:
    """Return why the API server rejects an object of a chart, by dry runs; empty if it accepts all of them.

    Helm finds that out after it has written others, and has waited for them. What else can fail is left to Helm.
    """
    kinds = kinds_of(api, rendered)
    for each in rendered:
        kind = kinds.get((each["apiVersion"], each["kind"]))
        if kind is None or is_hook(each):
            continue
        try:
            _try_write(api.with_kinds({each["kind"]: kind}), with_helms_mark(each, kind, release, namespace))
        except ApiError as error:
            if error.status in (BAD_REQUEST, UNPROCESSABLE) and _NOT_TYPED not in error.message:
                name = each["metadata"]["name"]
                return f"The API server rejects {each['kind']} {name} of the chart: {error.message.rstrip('.')}."
    return ""


def _try_write(api: KubernetesApi, desired: Manifest) -> None:
    live = api.get(desired["kind"], desired["metadata"].get("namespace"), desired["metadata"]["name"])
    if live is None:
        api.create(desired, dry_run=True)
        return
    try:
        api.apply(without_scaled(desired, live), dry_run=True)
    except ApiError as error:
        # An apply keeps the elements of lists that Helm owns and will replace, so ask about the object alone.
        try:
            api.create(_with_another_name(desired), dry_run=True)
        except ApiError:
            raise error from None


def _with_another_name(desired: Manifest) -> Manifest:
    name = f"{desired['metadata']['name'][:_LONGEST_STEM]}-dry-run"
    return {**desired, "metadata": {**desired["metadata"], "name": name}}


def restore(
    api: KubernetesApi, manifest: Sequence[Manifest], change: ObjectChange, release: str, namespace: str
) -> None:
    """Write one object of the release, as its manifest has it."""
    target = change.after or {}
    for each in manifest:
        # First without the namespace, which only the kind shows.
        kind = kinds_of(api, [each]).get((each["apiVersion"], each["kind"])) if is_same(each, target) else None
        desired = None if kind is None else with_helms_mark(each, kind, release, namespace)
        if kind is None or desired is None or _namespace(desired) != _namespace(target):
            continue
        connection = api.with_kinds({each["kind"]: kind})
        if change.before is None:
            # As Helm does, a create request drops unknown fields; an apply would fail.
            connection.create(desired)
        else:
            connection.apply(without_scaled(desired, change.before))


def delete_object(api: KubernetesApi, manifest: Manifest, release: str, namespace: str) -> None:
    """Delete an object if it exists and belongs to the release."""
    kind = kinds_of(api, [manifest]).get((manifest["apiVersion"], manifest["kind"]))
    if kind is None or is_kept(manifest):
        return
    where = (manifest["metadata"].get("namespace") or namespace) if kind.namespaced else None
    connection = api.with_kinds({manifest["kind"]: kind})
    live = connection.get(manifest["kind"], where, manifest["metadata"]["name"])
    annotations = (live["metadata"].get("annotations") or {}) if live else {}
    owner = (annotations.get(HELM_NAMESPACE_ANNOTATION), annotations.get(HELM_RELEASE_ANNOTATION))
    if live is not None and owner == (namespace, release):
        connection.delete(manifest["kind"], where, manifest["metadata"]["name"], live["metadata"]["uid"])


def is_same(one: Manifest, other: Manifest) -> bool:
    """Return whether two objects have the same kind, API version and name."""

    def key(manifest: Manifest) -> tuple[Any, ...]:
        return manifest.get("apiVersion"), manifest.get("kind"), manifest.get("metadata", {}).get("name")

    return key(one) == key(other)


def _namespace(manifest: Manifest) -> str | None:
    found: str | None = manifest["metadata"].get("namespace")
    return found


def is_temporary(manifest: Manifest) -> bool:
    """Return whether Kubernetes deletes the object by itself: it has been there, and is not created again."""
    return manifest["kind"] == "Job" and "ttlSecondsAfterFinished" in mapping(manifest.get("spec"))


def without_scaled(desired: Manifest, live: Manifest) -> Manifest:
    """Return the object without the number of replicas, if another client has set that by the subresource scale."""
    spec = desired.get("spec")
    if not isinstance(spec, Mapping) or "replicas" not in spec or not any(map(_scales, _fields(live))):
        return desired
    return {**desired, "spec": {name: value for name, value in spec.items() if name != "replicas"}}


def _fields(live: Manifest) -> Sequence[Mapping[str, Any]]:
    return live["metadata"].get("managedFields") or ()


def _scales(fields: Mapping[str, Any]) -> bool:
    owned = (fields.get("fieldsV1") or {}).get("f:spec") or {}
    return fields.get("subresource") == "scale" and fields.get("manager") != FIELD_MANAGER and "f:replicas" in owned


def restarted(written: Manifest, how: str) -> Iterator[str]:
    """Yield the workload that a write has created or changed: its pods have not been counted since."""
    if written.get("kind") in _COUNTED:
        yield f"{written['kind']} {written['metadata']['name']} ({how})"


def with_helms_mark(manifest: Manifest, kind: ApiResource, release: str, namespace: str) -> Manifest:
    """Return the object with its namespace, and with what Helm adds to each object of a release."""
    metadata = manifest["metadata"]
    annotations = {HELM_RELEASE_ANNOTATION: release, HELM_NAMESPACE_ANNOTATION: namespace}
    marked: dict[str, Any] = {
        **metadata,
        "labels": {**(metadata.get("labels") or {}), MANAGED_BY_LABEL: "Helm"},
        "annotations": {**(metadata.get("annotations") or {}), **annotations},
        **({"namespace": metadata.get("namespace") or namespace} if kind.namespaced else {}),
    }
    return {**manifest, "metadata": marked}


def _compared(manifest: Manifest) -> Manifest:
    kept = {name: value for name, value in manifest["metadata"].items() if name not in _BOOKKEEPING}
    return {**{name: value for name, value in manifest.items() if name != "status"}, "metadata": kept}


def _unavailable(live: Manifest) -> Iterator[str]:
    fields = _COUNTED.get(live["kind"])
    if fields is None:
        return
    part, specified, counted = fields
    found, desired = mapping(live.get("status")), mapping(live.get(part)).get(specified, 1)
    available, pods, updated = (found.get(name, 0) for name in counted)
    ready = available
    if _replaces_all(mapping(live.get("spec"))):
        # those of the former revision may be the available ones
        ready = max(0, available - max(0, pods - updated))
    if found.get("observedGeneration", 0) < live["metadata"].get("generation", 0):
        # the numbers are those before the last change
        ready = 0
    if ready < desired:
        yield f"{live['kind']} {live['metadata']['name']} ({ready}/{desired})"


def _replaces_all(spec: Mapping[str, Any]) -> bool:
    """Return whether the controller replaces all pods after a change, by itself."""
    strategy = mapping(spec.get("updateStrategy"))
    return strategy.get("type") != "OnDelete" and not mapping(strategy.get("rollingUpdate")).get("partition")


def _unknown(manifest: Manifest) -> Finding:
    what = f"{manifest['kind']} ({manifest['apiVersion']})"
    return Finding(reasons.REFERENCE_NOT_FOUND, f"The release has an object of a kind that does not exist: {what}.")


def _not_compared(manifest: Manifest, error: ApiError) -> str:
    what = f"{manifest['kind']} {manifest['metadata']['name']}"
    return (
        f"{what} of the release is not compared with the live object: {error.message}. Change the chart or its values."
    )


def _unchangeable(manifest: Manifest, error: ApiError) -> Finding:
    what = f"{manifest['kind']} {manifest['metadata']['name']}"
    return Finding(
        reasons.APPLY_FAILED, f"{what} differs from the release, and cannot be changed: {error}. Delete it, or upgrade."
    )


def kinds_of(api: KubernetesApi, manifests: Iterable[Manifest]) -> dict[tuple[str, str], ApiResource]:
    """Return the kinds of these objects by API version and kind, without those that the server does not have."""
    needed = {(each["apiVersion"], each["kind"]) for each in manifests}
    known = {
        (version, kind): api.kinds[kind]
        for version, kind in needed
        if kind in api.kinds and api.kinds[kind].api_version == version
    }
    served: Mapping[str, dict[str, ApiResource]] = {
        version: api.kinds_of(version) for version in sorted({version for version, _kind in needed - known.keys()})
    }
    found = {(version, kind): served[version].get(kind) for version, kind in needed - known.keys()}
    return known | {key: kind for key, kind in found.items() if kind is not None}
