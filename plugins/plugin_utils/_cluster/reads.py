# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a cluster depends on, and what decisions can read: objects, lists, dry runs of steps, and answers of Druid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import DruidState, Question
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import rejection
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import (
    desired_state,
    dry_runs_of_recreations,
    unlisted_objects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.missing_pods import EVENT
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import (
    Cluster,
    ReferenceKey,
    cluster_references,
    not_permitted_keys,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    BAD_REQUEST,
    FORBIDDEN,
    NOT_FOUND,
    ApiError,
    KubernetesError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, spec_errors
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult
    from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ConfigChanges

_VOLUME_MOUNT = re.compile(r"\.volumeMounts\[\d+\]\.name$")
# kube-apiserver, for the data of a ConfigMap.
_IMMUTABLE = "field is immutable when `immutable` is set"
# Not a verdict on the object: the server is busy or broken, or the object was modified concurrently.
_NO_VERDICT = frozenset({401, 404, 408, 429})


class DryRuns(Reads):
    """A reader that returns a verdict on each step of a cluster.

    If the namespace is missing, it is the same one for all steps, and blocks all groups.
    """

    _without_namespace: Verdict | None = None

    def dry_run(self, step: Step) -> Verdict:
        return self._without_namespace or self._judged(step, partial(super().dry_run, step))

    def dry_run_of_creation(self, step: Apply) -> Verdict:
        """Return the verdict on the new object alone: whether the old one can be deleted is judged later."""
        ask = partial(self.ask, "creation", step, lambda: step.dry_run_of_creation(Context(self._api)))
        return self._judged(step, ask)

    def _judged(self, step: Step, ask: Callable[[], Verdict]) -> Verdict:
        try:
            return ask()
        except ApiError as error:
            if not error.is_missing_namespace:
                return Verdict(step, rejection=_finding(step, error))
            self._without_namespace = Verdict(step, rejection=_finding(replace(step, group=None), error))
            return self._without_namespace


def _finding(step: Step, error: ApiError) -> Finding:
    no_verdict = error.status >= 500 or error.status in _NO_VERDICT or error.is_conflict
    reason = reasons.APPLY_FAILED if no_verdict else reasons.REJECTED_BY_API_SERVER
    message = step.explain(error)
    sentences = (message if message.endswith(".") else f"{message}.", *_remedies(step, error))
    return rejection(step, reason, " ".join(sentences))


def _remedies(step: Step, error: ApiError) -> Iterator[str]:
    """Yield remedies where the server names a field by its path in the pod, or none that helps."""
    if any(_IMMUTABLE in text for _path, text in error.causes):
        where = f"{step.key.kind.lower()} {step.key.name} --namespace {step.namespace}"
        yield f"Its field immutable is true: delete it (kubectl delete {where}), so that it is created again."
    if any(_VOLUME_MOUNT.search(path) and text.startswith("Not found") for path, text in error.causes):
        yield "Add a volume of that name to the volumes of spec or of the group, or remove the volume mount."


# The permission to list them can be missing. kubectl shows the events.
_OPTIONAL = {
    EVENT: "report why pods are missing, and which probes fail",
    **{kind: purpose for feature in FEATURES for kind, purpose in feature.optional_reads.items()},
}
# The exception at the end of a log, with its causes: up to 400 lines of 100 bytes each.
_LOG_LINES, _MAX_LOG_BYTES = (1000, 100), 256 * 1024


class ClusterReads(DryRuns):
    """What decisions about a cluster can read."""

    def __init__(self, api: KubernetesApi, namespace: str, options: Options) -> None:
        super().__init__(api, namespace, _OPTIONAL)
        self._options = options
        self._reads_logs = True

    def read_secrets(self) -> dict[ReferenceKey, Manifest]:
        """Return all Secrets that were read: messages must not contain their values."""
        return {_secret_key(each): each for each in self.read_objects() if each.get("kind") == "Secret"}

    def storage_class(self, name: str) -> Manifest | str:
        """Return the storage class, or why it could not be read: the permission is cluster-wide, and can be missing."""
        return self.ask("StorageClass", name, lambda: self._storage_class(name))

    def pod_log(self, pod: str, container: str, previous: bool) -> str:
        """Return the end of what a container has printed, `previous`: before its last restart. Empty if it has not.

        It is also empty without the permission, and if a kubelet does not respond: then no other log is read.
        """
        if not self._reads_logs:
            return ""
        text = ""
        try:
            # The limit is counted from the first line, and what matters is the last one.
            for lines in _LOG_LINES:
                limits = {"lines": lines, "limit": _MAX_LOG_BYTES}
                text = self._api.pod_log(str(self._namespace), pod, container, previous=previous, **limits)
                if len(text.encode()) < _MAX_LOG_BYTES:
                    return text
        except KubernetesError as error:
            self._reads_logs = isinstance(error, ApiError) and error.status in (BAD_REQUEST, NOT_FOUND)
        # without the line that is cut
        return text.rpartition("\n")[0]

    def unlisted(self, inputs: Inputs) -> tuple[Manifest, ...]:
        """Return the desired objects that exist, but that the LISTs do not contain."""
        about = inputs.cluster, inputs.desired, inputs.observed
        return self.ask("unlisted", about, lambda: unlisted_objects(inputs))

    def recreations(self, inputs: Inputs) -> tuple[Verdict, ...]:
        """Return the dry runs of the objects that seem to need a recreation, before what is blocked is decided."""
        about = inputs.cluster, inputs.desired, inputs.observed
        return self.ask("recreations", about, lambda: dry_runs_of_recreations(inputs))

    def all_claims(self, inputs: Inputs) -> tuple[Manifest, ...]:
        """Return all PVCs of the namespace if those without labels count: controllers find them by name."""
        return self.list_objects(CLAIM) if any(feature.needs_all_claims(inputs) for feature in FEATURES) else ()

    def existing(self, creation: Apply) -> Manifest | None:
        """Return the object if it exists, which is read if its creation is not accepted."""
        return None if self.dry_run(creation).after is not None else self.get(*creation.key)

    def ask_druid(self, inputs: Inputs, questions: tuple[Question[Any], ...]) -> DruidState:
        """Return the answers of Druid to these questions, or why there are none."""
        missing = tuple(question for question in questions if ("Druid", question) not in self._known)
        if missing:
            # The import of the HTTP client is slow, and a cluster at rest needs nothing of Druid.
            from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_connection import ask_druid

            for question, answer in ask_druid(inputs, missing, self._options).items():
                # as an element, since it is no object of Kubernetes
                self._known["Druid", question] = (answer,)
        return DruidState({question: self._known["Druid", question][0] for question in questions})

    def config_changes(self, result: ClusterResult, configs: Mapping[str, Mapping[str, Any]]) -> ConfigChanges:
        """Return how Druid's dynamic configurations differ from these; ConnectionUnavailable."""

        def changes() -> ConfigChanges:
            from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_connection import connected
            from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import find_configs

            with connected(self, result, self._options, "spec.dynamicConfig") as client:
                return find_configs(client, configs)

        return self.ask("dynamic configurations", configs, changes)

    def _storage_class(self, name: str) -> Manifest | str:
        try:
            live = self._api.get("StorageClass", None, name)
        except ApiError as error:
            if error.status != FORBIDDEN:
                raise
            return str(error)
        return f"storage class {name} does not exist." if live is None else live


def _secret_key(secret: Manifest) -> ReferenceKey:
    metadata = secret["metadata"]
    return ReferenceKey("Secret", metadata["namespace"], metadata["name"])


LISTED_KINDS = (
    "ConfigMap",
    "Service",
    "PersistentVolumeClaim",
    "StatefulSet",
    "Deployment",
    "Ingress",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
    "Pod",
)


def observe(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> Inputs:
    """Read the cluster, the objects that the resource refers to, and what else may change what is specified."""
    errors, reads = spec_errors(names.KIND, resource), ClusterReads(api, resource["metadata"]["namespace"], options)
    readable = {**resource, "spec": {}} if errors else resource
    not_permitted = not_permitted_keys(readable, options.allowed_reference_namespaces)
    followed = (key for key in cluster_references(readable) if key not in not_permitted)
    observed = _read(reads, Cluster.from_resource(readable), followed)
    cluster = Cluster.from_resource(readable, observed.references)
    for feature in FEATURES:
        cluster = feature.specified(cluster, observed, reads)
    desired = desired_state(cluster, observed)
    return Inputs(
        resource,
        cluster,
        observed,
        desired,
        reads,
        errors,
        options.allowed_reference_namespaces,
        options.keep_finalizer,
        options.check_mode,
        now,
    )


def _read(reads: Reads, cluster: Cluster, references: Iterable[ReferenceKey]) -> Observed:
    # A name that is not a valid label value cannot be selected by; the validation reports it.
    is_label = len(cluster.name) <= names.MAX_LABEL_CHARACTERS
    return read_cluster(reads, cluster, references) if is_label else Observed()


def read_cluster(reads: Reads, cluster: Cluster, references: Iterable[ReferenceKey] = ()) -> Observed:
    """Read the objects of the cluster by one LIST per kind, and the references by one GET per object."""
    selector = f"{names.CLUSTER_LABEL}={cluster.name}"
    listed = (live for kind in LISTED_KINDS for live in reads.list_objects(kind, selector))
    referenced = {key: reads.get(key.kind, key.name, key.namespace) for key in dict.fromkeys(references)}
    return Observed({key_of(live): live for live in listed}, referenced)


def replica_sets(reads: Reads, cluster: Cluster) -> tuple[Manifest, ...]:
    """Return the ReplicaSets with the cluster's label. Only removed groups can have orphaned ones."""
    return reads.list_objects("ReplicaSet", f"{names.CLUSTER_LABEL}={cluster.name}")
