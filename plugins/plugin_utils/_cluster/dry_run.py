# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dry runs: the API server itself returns the object that a step would write, or rejects it, which is a finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.group_blocking import rejection
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

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
