# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry out a plan: each write bound to what it was decided on; an error stops only what depends on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.judge import bound
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._ownership import rewritten


@dataclass(frozen=True)
class Result:
    """What became of a step: the object as it is now (None: gone), or why it failed or was not tried."""

    step: Step
    live: Manifest | None = None
    error: str | None = None
    was_tried: bool = True

    @property
    def is_done(self) -> bool:
        return self.error is None


def act(api: KubernetesApi, steps: Iterable[Step]) -> tuple[Result, ...]:
    """Carry out the steps in order and return what became of each."""
    results: list[Result] = []
    for step in steps:
        blocker = next((result for result in results if not result.is_done and _depends(step, result.step)), None)
        results.append(_carry_out(api, step) if blocker is None else _not_tried(step, blocker))
    return tuple(results)


def _depends(step: Step, failed: Step) -> bool:
    """What all share comes before the groups, and within a group each object before the next; the finalizer is last."""
    if step.operation == "patch":
        return True
    if failed.group is None:
        return step.operation != "delete" and failed.operation != "delete"
    return failed.group == step.group


def _carry_out(api: KubernetesApi, step: Step) -> Result:
    try:
        return Result(step, _write(api, step))
    except KubernetesError as error:
        return Result(step, step.live, str(error))


def _write(api: KubernetesApi, step: Step) -> Manifest | None:
    kind, name = step.key
    metadata = step.manifest["metadata"]
    if step.operation == "delete":
        api.delete(kind, metadata["namespace"], name, metadata["uid"])
        return None
    if step.patch is not None:
        return api.json_patch(kind, metadata["namespace"], name, step.patch)
    if step.live is not None and step.managed_fields is not None:
        _settle_ownership(api, step.live, step.managed_fields)
    live = api.apply(bound(step))
    released = rewritten(live, step.manifest) if step.initial else None
    return live if released is None else _settle_ownership(api, live, released)


def _settle_ownership(api: KubernetesApi, live: Manifest, managed_fields: list[Manifest]) -> Manifest:
    """Say who owns which field of the very version that was looked at; values stay as they are."""
    metadata = live["metadata"]
    operations = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
        {"op": "add", "path": "/metadata/managedFields", "value": managed_fields},
    ]
    return api.json_patch(live["kind"], metadata["namespace"], metadata["name"], operations)


def _not_tried(step: Step, blocker: Result) -> Result:
    return Result(step, step.live, f"{step.key} was not written since {blocker.step.key} failed.", was_tried=False)
