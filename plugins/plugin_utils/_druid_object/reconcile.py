# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a resource that describes one object in a Druid. A terminating one is finalized."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import error_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import (
    SecretKey,
    disallowed_secret,
    secrets_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.decide import (
    decide,
    decide_deletion,
    duplicate,
    older_owner,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.reads import (
    DruidReads,
    reading_druid,
    surroundings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import (
    DruidObject,
    problems_of_target,
    readable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import (
    ObjectResult,
    ObjectState,
    Plan,
    Surroundings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.steps import of_resource
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, spec_errors
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, Druid, execute, failures
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kind import ObjectKind


def reconcile_once(kind: ObjectKind, api: KubernetesApi, resource: Manifest, options: Options) -> ObjectResult:
    """Reconcile a resource: from the API, or (without a uid) built from a spec; KubernetesError if it fails."""
    if is_terminating(resource):
        return finalize(kind, api, resource, options)
    item = DruidObject.from_resource(resource)
    blockers = spec_errors(kind.name, resource) or _blockers(kind, item, options)
    planned = ObjectResult(resource, Plan(findings=blockers), item)
    if blockers:
        return planned
    with _reading(kind, api, item, kind.all_secrets(item), options) as (reads, druid):
        with options.phases("observe"):
            found = reads.observe()
        planned = replace(planned, observed=found)
        owner = older_owner(kind, item, found.siblings)
        if owner is not None:
            return planned.with_findings(duplicate(kind, item, owner))
        try:
            return _with_druid(kind, Context(api, druid), reads, planned, options)
        except DruidError as error:
            return planned.blocked(error_finding(of_resource(error)))


def _with_druid(
    kind: ObjectKind, context: Context, reads: DruidReads, planned: ObjectResult, options: Options
) -> ObjectResult:
    """Decide, carry out the plan, and read back Druid's state."""
    item, found = planned.item, planned.observed
    with options.phases("decide"):
        state = _state(kind, reads, item, found)
        planned = replace(planned, plan=decide(kind, item, found.siblings, state), in_druid=state)
    if options.check_mode or not planned.plan.steps:
        return planned
    with options.phases("act"):
        results = execute(planned.plan.steps, replace(context, state=planned))
        result = planned.after(results)
    # what was read may have changed since
    reads.forget()
    if failures(results):
        return result
    try:
        return replace(result, in_druid=_state(kind, reads, item, found))
    except DruidError:
        # the next reconcile detects it
        return result


def _state(kind: ObjectKind, reads: DruidReads, item: DruidObject, found: Surroundings[DruidObject]) -> ObjectState:
    state: ObjectState = reads.in_druid("state", None, lambda client: kind.fetch(client, item, found))
    return state


def finalize(kind: ObjectKind, api: KubernetesApi, resource: Manifest, options: Options) -> ObjectResult:
    """Remove what the resource has submitted, and the finalizer. The spec may be invalid.

    Without a uid, what the spec describes is removed.
    """
    resource = readable(resource)
    item = DruidObject.from_resource(resource)
    planned = ObjectResult(resource, Plan(), item)
    refusal = disallowed_secret(secrets_of(item), item.namespace, options.allowed_reference_namespaces)
    secrets = secrets_of(item) if refusal is None else ()
    with _reading(kind, api, item, secrets, options) as (reads, druid):

        def decided(failure: Finding | None) -> ObjectResult:
            plan = decide_deletion(kind, item, reads, refusal or failure)
            return replace(planned, observed=reads.observed, plan=plan)

        return deletion.carried_out(decided, Context(api, druid), check_mode=options.check_mode)


def _reading(
    kind: ObjectKind, api: KubernetesApi, item: DruidObject, secrets: tuple[SecretKey, ...], options: Options
) -> AbstractContextManager[tuple[DruidReads, Druid]]:
    """Return the reader of a reconcile, and the client for its writes."""

    def surround(reads: Reads) -> Surroundings[DruidObject]:
        return Surroundings(**surroundings(reads, kind.name, item, secrets))

    return reading_druid(partial(DruidReads, api, item.namespace, surround), item, options)


def _blockers(kind: ObjectKind, item: DruidObject, options: Options) -> tuple[Finding, ...]:
    """Return problems of the resource itself, which are found without its surroundings."""
    problems = tuple(Finding(reasons.INVALID_SPEC, f"spec.{text}") for text in problems_of_target(item))
    refusal = disallowed_secret(kind.all_secrets(item), item.namespace, options.allowed_reference_namespaces)
    return (*problems, *(() if refusal is None else (refusal,)))
