# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dry runs: the API server itself returns the object that a step would write, or rejects it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.group_blocking import rejection
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import Context

_VOLUME_MOUNT = re.compile(r"\.volumeMounts\[\d+\]\.name$")
# kube-apiserver, for the data of a ConfigMap.
_IMMUTABLE = "field is immutable when `immutable` is set"
# Not a verdict on the object: the server is busy or broken, or the object was modified concurrently.
_NO_VERDICT = frozenset({401, 404, 408, 429})


_Step = TypeVar("_Step", bound=Step)


def _dry_run(step: Step, context: Context) -> Verdict:
    return step.dry_run(context)


def dry_run_of_creation(step: Apply, context: Context) -> Verdict:
    """Ask about a new object alone, before it is certain that an old one has to be deleted."""
    return step.dry_run_of_creation(context)


def dry_run(
    context: Context, steps: Iterable[_Step], ask: Callable[[_Step, Context], Verdict] = _dry_run
) -> dict[ObjectKey, Verdict]:
    """Return the verdict on each step; only one for all of them if the namespace is missing."""
    verdicts = {}
    for step in steps:
        try:
            verdicts[step.key] = ask(step, context)
        except ApiError as error:
            if error.is_missing_namespace:
                return {step.key: Verdict(step, rejection=_finding(replace(step, group=None), error))}
            verdicts[step.key] = Verdict(step, rejection=_finding(step, error))
    return verdicts


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
