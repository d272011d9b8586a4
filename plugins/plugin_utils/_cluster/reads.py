# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the decision about a cluster can read: objects, lists, dry runs of steps, and answers of Druid."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import (
    dry_runs_of_recreations,
    unlisted_objects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.dry_run import DryRuns
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.missing_pods import EVENT
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import DruidState, Question
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    BAD_REQUEST,
    FORBIDDEN,
    NOT_FOUND,
    ApiError,
    KubernetesError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# The permission to list them can be missing. kubectl shows the events.
_OPTIONAL = {
    EVENT: "report why pods are missing, and which probes fail",
    **{kind: purpose for feature in FEATURES for kind, purpose in feature.optional_reads.items()},
}
# The exception at the end of a log, with its causes: up to 400 lines of 100 bytes each.
_LOG_LINES, _MAX_LOG_BYTES = (1000, 100), 256 * 1024


class ClusterReads(DryRuns):
    """`druid` has the answers so far, and `secrets` what was read to connect.

    `templates` has the dry runs so far of workloads whose pod templates seem to differ: the API server normalizes them.
    """

    def __init__(self, api: KubernetesApi, namespace: str, options: Options) -> None:
        super().__init__(api, namespace, _OPTIONAL)
        self._options = options
        self.druid = DruidState()
        self.secrets: dict[ReferenceKey, Manifest | None] = {}
        self.templates: dict[ObjectKey, Verdict] = {}
        self._reads_logs = True

    def read_secrets(self) -> dict[ReferenceKey, Manifest | None]:
        """Return all Secrets that were read: messages must not contain their values."""
        found = (each for each in self.read_objects() if each.get("kind") == "Secret")
        return {**{_secret_key(each): each for each in found}, **self.secrets}

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
        return self._once(("unlisted",), lambda: unlisted_objects(inputs))

    def recreations(self, inputs: Inputs) -> tuple[Verdict, ...]:
        """Return the dry runs of the objects that seem to need a recreation, before what is blocked is decided."""
        return self._once(("recreations",), lambda: dry_runs_of_recreations(inputs))

    def all_claims(self, inputs: Inputs) -> tuple[Manifest, ...]:
        """Return all PVCs of the namespace if those without labels count: controllers find them by name."""
        return self.list_objects(CLAIM) if any(each.needs_all_claims(inputs) for each in FEATURES) else ()

    def existing(self, creation: Apply) -> Manifest | None:
        """Return the object if it exists, which is read if its creation is not accepted."""
        return None if self.dry_run(creation).after is not None else self.get(*creation.key)

    def template(self, step: Step) -> Verdict:
        """Return the verdict on a workload whose pod template seems to differ."""
        if step.key not in self.templates:
            self.templates[step.key] = self.dry_run(step)
        return self.templates[step.key]

    def ask_druid(self, inputs: Inputs, questions: tuple[Question[Any], ...]) -> DruidState:
        """Return all answers of Druid so far, including those to these questions, or why there are none."""
        missing = self.druid.missing_answers(questions)
        if missing:
            # The import of the HTTP client is slow, and a cluster at rest needs nothing of Druid.
            from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_connection import ask_druid

            answers = ask_druid(self._api, inputs, missing, self._options, self.secrets)
            self.druid = self.druid.with_answers(answers)
        return self.druid

    def _storage_class(self, name: str) -> Manifest | str:
        try:
            found = self._api.get("StorageClass", None, name)
        except ApiError as error:
            if error.status != FORBIDDEN:
                raise
            return str(error)
        return f"storage class {name} does not exist." if found is None else found


def _secret_key(secret: Manifest) -> ReferenceKey:
    metadata = secret["metadata"]
    return ReferenceKey("Secret", metadata["namespace"], metadata["name"])
