# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gather what the decision about a cluster needs in addition, until there is a plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.quota import QUOTA
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.missing_pods import EVENT
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.dry_run import dry_run, dry_run_of_creation
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import (
    AskDruid,
    DryRun,
    DryRunPatches,
    DryRunRecreations,
    DryRunTemplates,
    Get,
    GetResource,
    GetStorageClasses,
    Inputs,
    LetOthersGrow,
    List,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.gather import MAX_NEEDS, Need, decide_and_gather
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import Context

# The permission to list them can be missing. The writes themselves report quotas, and kubectl shows the events.
_OPTIONAL = {
    QUOTA: "check whether each group as a whole fits into the quotas",
    EVENT: "report why pods are missing",
}


def plan_for(api: KubernetesApi, inputs: Inputs, options: Options) -> tuple[Plan, Inputs]:
    """Return the plan, and the inputs with everything that it is based on."""
    # After each group for which others do not wait, the other steps need dry runs.
    max_needs = MAX_NEEDS + 3 * len(inputs.cluster.groups)
    return decide_and_gather(decide, partial(_gather, api, options), inputs, max_needs)


def _gather(api: KubernetesApi, options: Options, inputs: Inputs, need: Need) -> Inputs:
    if isinstance(need, DryRunPatches | DryRunTemplates | DryRunRecreations):
        return _dry_run(api, inputs, need)
    if isinstance(need, DryRun):
        return replace(inputs, verdicts=dry_run(Context(api), need.steps))
    if isinstance(need, LetOthersGrow):
        return _without_verdicts(replace(inputs, blocked_expansions=inputs.blocked_expansions | {need.group}))
    if isinstance(need, AskDruid):
        # The import of the HTTP client is slow, and a cluster at rest needs nothing of Druid.
        from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_calls import ask_druid

        return ask_druid(api, inputs, need.questions, options)
    return _read(api, inputs, need)


def _read(api: KubernetesApi, inputs: Inputs, need: Need) -> Inputs:
    if isinstance(need, Get):
        return replace(inputs, unlisted=_unlisted(api, inputs, need.keys))
    if isinstance(need, List):
        return replace(inputs, lists={**inputs.lists, need.kind: _list(api, inputs.cluster.namespace, need)})
    if isinstance(need, GetResource):
        return replace(inputs, latest=(api.get(names.KIND, inputs.cluster.namespace, inputs.cluster.name),))
    if isinstance(need, GetStorageClasses):
        return replace(inputs, storage_classes={name: _storage_class(api, name) for name in need.names})
    raise TypeError(need)


def _without_verdicts(inputs: Inputs) -> Inputs:
    """Return the inputs without the dry runs of steps that are decided again."""
    return replace(inputs, verdicts=None, rejected_patches=None, ignored_patches=frozenset())


def _dry_run(api: KubernetesApi, inputs: Inputs, need: DryRunPatches | DryRunTemplates | DryRunRecreations) -> Inputs:
    if isinstance(need, DryRunPatches):
        verdicts = dry_run(Context(api), need.steps).values()
        rejected = {each.step.key: each.rejection for each in verdicts if each.rejection is not None}
        ignored = (each for each in verdicts if each.after is not None and not each.step.has_effect(each.after))
        return replace(inputs, rejected_patches=rejected, ignored_patches=frozenset(each.step.key for each in ignored))
    if isinstance(need, DryRunTemplates):
        return replace(inputs, templates={**(inputs.templates or {}), **dry_run(Context(api), need.steps)})
    # Whether the object can be deleted is judged once it is certain that it has to be.
    return replace(inputs, recreations=dry_run(Context(api), need.steps, dry_run_of_creation))


def _unlisted(api: KubernetesApi, inputs: Inputs, keys: Iterable[ObjectKey]) -> dict[ObjectKey, Manifest]:
    """Return the objects of these names that exist."""
    found = (api.get(key.kind, inputs.cluster.namespace, key.name) for key in keys)
    return {key_of(live): live for live in found if live is not None}


def _storage_class(api: KubernetesApi, name: str) -> Manifest | str:
    """Return the storage class, or why it could not be read: the permission is cluster-wide, and can be missing."""
    try:
        found = api.get("StorageClass", None, name)
    except ApiError as error:
        if error.status != FORBIDDEN:
            raise
        return str(error)
    return f"storage class {name} does not exist." if found is None else found


def _list(api: KubernetesApi, namespace: str, need: List) -> tuple[Manifest, ...]:
    try:
        return tuple(api.list_objects(need.kind, namespace, need.label_selector, need.field_selector))
    except ApiError as error:
        if need.kind not in _OPTIONAL or error.status != FORBIDDEN:
            raise
        api.warnings.append(f"Cannot {_OPTIONAL[need.kind]}: {error}")
        return ()
