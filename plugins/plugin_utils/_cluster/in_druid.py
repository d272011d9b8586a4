# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keep what the resource states about Druid itself: asked when Kubernetes is as it should be, changed if it differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import reasons, router
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import Pass
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.settings import Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid.access import (
    Access,
    NoAccess,
    access,
    connected,
    refused,
    secrets_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid.dynamic_config import Found, look, write
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._first_look import decide_on_the_server
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi

# What is wanted of each kind of dynamic configuration.
Configs = Mapping[str, Mapping[str, Any]]


def configure(api: KubernetesApi, done: Pass, configs: Configs, settings: Settings, *, only_look: bool) -> Pass:
    """Return the pass with what has been changed in Druid (or would be), and with what is in the way of that.

    Nothing that is wrong with Druid is an error of the pass: what there is to do in Kubernetes has been done.
    """
    refusal = refused(secrets_of(done.cluster), done.cluster.namespace, settings.reference_namespaces)
    if refusal is not None:
        return _with_findings(done, refusal)
    try:
        done = _with_secrets(api, done)
    except KubernetesError as error:
        return _with_findings(done, Finding(reasons.CLUSTER_UNREADABLE, str(error)))
    try:
        return _with_druid(api, done, configs, _access(done, settings), settings, only_look=only_look)
    except NoAccess as error:
        return _with_findings(done, error.finding)
    except DruidopsError as error:
        return _with_findings(done, Finding(reasons.DRUID_UNREACHABLE, str(error)))


def _with_druid(
    api: KubernetesApi, done: Pass, configs: Configs, found: Access, settings: Settings, *, only_look: bool
) -> Pass:
    with connected(found, settings.patience, settings.meter) as client:
        with settings.phases("decide"):
            looked = look(client, configs, _made_before(done))
        if only_look or not looked.steps:
            return _with(done, looked)
        decide_on_the_server(api)
        with settings.phases("act"):
            written = write(looked.steps)
    known = {**_made_before(done), **written.made}
    done = replace(done, made_in_druid={kind: one for kind, one in known.items() if one})
    return _with(_with(done, replace(looked, steps=())), written)


def _made_before(done: Pass) -> Mapping[str, str]:
    return (done.resource.get("status") or {}).get("dynamicConfig") or {}


def _with_secrets(api: KubernetesApi, done: Pass) -> Pass:
    """Return the pass with the Secret read that the resource names: also so that nothing of it is said anywhere."""
    keys = [ReferenceKey("Secret", key.namespace, key.name) for key in secrets_of(done.cluster)]
    read = {key: api.get(key.kind, key.namespace, key.name) for key in keys}
    return replace(done, observed=replace(done.observed, references={**done.observed.references, **read}))


def _access(done: Pass, settings: Settings) -> Access:
    references = done.observed.references
    secrets = {key: references.get(ReferenceKey("Secret", key.namespace, key.name)) for key in secrets_of(done.cluster)}
    return access(done.cluster, settings.url or done.cluster.endpoint.get("url") or _router(done), secrets)


def _router(done: Pass) -> str:
    try:
        return router.address(
            done.resource,
            done.observed.of_kind("Service"),
            prefers_tls="caSecretRef" in done.cluster.endpoint,
            otherwise="state where Druid is found from here (spec.endpoint.url, or the option url of this task)",
        )
    except router.NoRouter as error:
        raise NoAccess(reasons.ROUTER_NOT_FOUND, f"spec.dynamicConfig: {error}") from error


def _with(done: Pass, found: Found) -> Pass:
    plan = done.plan
    warnings = tuple(dict.fromkeys((*plan.warnings, *found.warnings)))
    findings = (*plan.findings, *found.findings)
    return replace(
        done, plan=replace(plan, in_druid=(*plan.in_druid, *found.steps), findings=findings, warnings=warnings)
    )


def _with_findings(done: Pass, *findings: Finding) -> Pass:
    return replace(done, plan=replace(done.plan, findings=(*done.plan.findings, *findings)))
