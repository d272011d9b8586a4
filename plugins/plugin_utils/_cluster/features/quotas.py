# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quota check of a whole group: a dry run checks each object by itself, not their sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import blocked_groups, rejection
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import binary_size, parse_quantity

# By the resource names of a ResourceQuota.
if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan

Amounts = Mapping[str, Decimal]

QUOTA = "ResourceQuota"
STORAGE = "requests.storage"
_ONE, _NOTHING = Decimal(1), Decimal(0)


class Quotas(Feature):
    """Reads the quotas of the namespace if the steps can exceed one together."""

    # The writes themselves report quotas, and kubectl shows the events.
    optional_reads = MappingProxyType({QUOTA: "check whether each group as a whole fits into the quotas"})

    def judge_results(self, draft: DraftPlan) -> tuple[Finding, ...]:
        """Return a finding for each group that exceeds a quota as a whole."""
        steps = draft.applies
        return beyond(steps, draft.inputs.reads.list_objects(QUOTA)) if have_sums(steps) else ()


def have_sums(steps: Iterable[Step]) -> bool:
    """True when two steps use more of the same resource: only then can their sum exceed a quota that each meets."""
    return any(number > 1 for number in Counter(name for step in steps for name in _needs(step)).values())


def beyond(steps: Iterable[Step], quotas: Iterable[Manifest]) -> tuple[Finding, ...]:
    """Return a finding for each group, or object that is applied by itself, that exceeds a quota after the others.

    `steps` are in the order of execution, `quotas` the ResourceQuotas of the namespace. A blocked group uses nothing.
    """
    # A quota with scopes counts pods, or PVCs of a VolumeAttributesClass.
    limits = [quota for quota in quotas if not {"scopes", "scopeSelector"} & quota["spec"].keys()]
    before: tuple[Step, ...] = ()
    findings: list[Finding] = []
    for (group, _leaf), own in groupby(steps, key=lambda step: (step.group, step.key if step.is_leaf else None)):
        members = () if group in blocked_groups(findings) else tuple(own)
        refused = next(_refusals(before, members, limits), None)
        if refused is None:
            before += members
            continue
        step, message = refused
        findings.append(rejection(step, reasons.REJECTED_BY_API_SERVER, message))
    return tuple(findings)


def _refusals(
    before: Sequence[Step], members: Sequence[Step], quotas: Sequence[Manifest]
) -> Iterator[tuple[Step, str]]:
    """Yield each member that exceeds a quota, with the message of the API server."""
    taken = _sum(_change(step) for step in before)
    for step in members:
        for quota in quotas:
            missing = [name for name in _needs(step) if not _has_room(quota, name, taken, step)]
            if missing:
                yield step, _message(step, quota, missing, taken)
        taken = _sum((taken, _change(step)))


def _has_room(quota: Manifest, name: str, taken: Amounts, step: Step) -> bool:
    limited = _amount(quota, "hard", name)
    used = _amount(quota, "used", name)
    return limited is None or used is None or used + taken.get(name, _NOTHING) + _needs(step)[name] <= limited


def _amount(quota: Manifest, field: str, name: str) -> Decimal | None:
    return parse_quantity(((quota.get("status") or {}).get(field) or {}).get(name))


def _message(step: Step, quota: Manifest, names: Sequence[str], taken: Amounts) -> str:
    """Return the message of the API server at that point of the write."""
    used = {name: (_amount(quota, "used", name) or _NOTHING) + taken.get(name, _NOTHING) for name in names}
    requested = {name: _needs(step)[name] for name in names}
    limited = {name: _amount(quota, "hard", name) or _NOTHING for name in names}
    return (
        f"Cannot write {step.key} in namespace {step.manifest['metadata']['namespace']}: exceeded quota: "
        f"{quota['metadata']['name']}, requested: {_listed(requested)}, used: {_listed(used)}, "
        f"limited: {_listed(limited)} (including the writes before it). Raise the quota, or request less."
    )


def _listed(amounts: Amounts) -> str:
    return ",".join(f"{name}={_text(name, amounts[name])}" for name in sorted(amounts))


def _text(name: str, amount: Decimal) -> str:
    return binary_size(amount) if name.endswith(STORAGE) else f"{amount:f}"


def _needs(step: Step) -> Amounts:
    """Return the resources of which the step uses more."""
    return {name: amount for name, amount in _change(step).items() if amount > 0}


def _change(step: Step) -> Amounts:
    """Return the change in usage; a recreated object counts once."""
    kind = step.key.kind
    less = {name: -amount for name, amount in _usage(kind, step.live).items()}
    return _sum((_usage(kind, step.after or step.manifest), less))


def _sum(amounts: Iterable[Amounts]) -> Amounts:
    total: dict[str, Decimal] = {}
    for each in amounts:
        for name, amount in each.items():
            total[name] = total.get(name, _NOTHING) + amount
    return total


def _usage(kind: str, live: Manifest | None) -> Amounts:
    """Return what quotas count for an object (Kubernetes 1.34, pkg/quota/v1/evaluator/core)."""
    if live is None:
        return {}
    # Quotas for the core API group also accept names without `count/`.
    names = {f"count/{KINDS[kind].resource}", KINDS[kind].resource}
    measure = _MEASURED.get(kind)
    return {**dict.fromkeys(names, _ONE), **(measure(live["spec"]) if measure else {})}


def _of_service(spec: Mapping[str, Any]) -> Amounts:
    ports = spec.get("ports") or ()
    if spec.get("type") == "NodePort":
        return {"services.nodeports": Decimal(len(ports))}
    if spec.get("type") != "LoadBalancer":
        return {}
    allocated = [port for port in ports if spec.get("allocateLoadBalancerNodePorts", True) or port.get("nodePort")]
    return {"services.loadbalancers": _ONE, "services.nodeports": Decimal(len(allocated))}


def _of_claim(spec: Mapping[str, Any]) -> Amounts:
    storage = parse_quantity(((spec.get("resources") or {}).get("requests") or {}).get("storage")) or _NOTHING
    storage_class = spec.get("storageClassName")
    if not storage_class:
        return {STORAGE: storage}
    prefix = f"{storage_class}.storageclass.storage.k8s.io"
    return {STORAGE: storage, f"{prefix}/{STORAGE}": storage, f"{prefix}/persistentvolumeclaims": _ONE}


_MEASURED = {"Service": _of_service, "PersistentVolumeClaim": _of_claim}
