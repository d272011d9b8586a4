# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do the quotas have room for a whole group? A dry run sees each object by itself, and so says nothing of their sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.group_blocking import unchanged_message
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values import quantity

# By the names that a ResourceQuota has for them.
Amounts = Mapping[str, Decimal]

STORAGE = "requests.storage"
_ONE, _NOTHING = Decimal(1), Decimal(0)


def have_sums(steps: Iterable[Step]) -> bool:
    """True when two steps need more of the same: only then can a sum be too much where each step alone is not."""
    return any(number > 1 for number in Counter(name for step in steps for name in _needs(step)).values())


def beyond(steps: Iterable[Step], quotas: Iterable[Manifest]) -> tuple[Finding, ...]:
    """Return a finding for each group that the quotas have no room for, beside what is written before it.

    `steps` are in the order in which they are carried out, `quotas` the ResourceQuotas of the namespace. A group that
    has a finding takes no room.
    """
    # What has scopes counts pods, or claims of a VolumeAttributesClass.
    limits = [quota for quota in quotas if not {"scopes", "scopeSelector"} & quota["spec"].keys()]
    before: tuple[Step, ...] = ()
    findings: list[Finding] = []
    for group, own in groupby(steps, key=lambda step: step.group):
        members = tuple(own)
        refusal = next(_refusals(before, members, limits), None)
        if refusal is None:
            before += members
            continue
        findings.append(Finding(reasons.REJECTED_BY_API_SERVER, f"{refusal} {unchanged_message(group)}", group))
    return tuple(findings)


def _refusals(before: Sequence[Step], members: Sequence[Step], quotas: Sequence[Manifest]) -> Iterator[str]:
    """Yield for each member that some quota has no room for what the API server would say."""
    taken = _sum(_change(step) for step in before)
    for step in members:
        for quota in quotas:
            missing = [name for name in _needs(step) if not _has_room(quota, name, taken, step)]
            if missing:
                yield _words(step, quota, missing, taken)
        taken = _sum((taken, _change(step)))


def _has_room(quota: Manifest, name: str, taken: Amounts, step: Step) -> bool:
    limited = _amount(quota, "hard", name)
    used = _amount(quota, "used", name)
    return limited is None or used is None or used + taken.get(name, _NOTHING) + _needs(step)[name] <= limited


def _amount(quota: Manifest, field: str, name: str) -> Decimal | None:
    return quantity.parse(((quota.get("status") or {}).get(field) or {}).get(name))


def _words(step: Step, quota: Manifest, names: Sequence[str], taken: Amounts) -> str:
    """Say it as the API server does when the group has been written that far."""
    used = {name: (_amount(quota, "used", name) or _NOTHING) + taken.get(name, _NOTHING) for name in names}
    requested = {name: _needs(step)[name] for name in names}
    limited = {name: _amount(quota, "hard", name) or _NOTHING for name in names}
    return (
        f"Cannot write {step.key} in namespace {step.manifest['metadata']['namespace']}: exceeded quota: "
        f"{quota['metadata']['name']}, requested: {_listed(requested)}, used: {_listed(used)}, "
        f"limited: {_listed(limited)}, with all that would be written before it. Raise the quota, or ask for less."
    )


def _listed(amounts: Amounts) -> str:
    return ",".join(f"{name}={_text(name, amounts[name])}" for name in sorted(amounts))


def _text(name: str, amount: Decimal) -> str:
    return quantity.binary(amount) if name.endswith(STORAGE) else f"{amount:f}"


def _needs(step: Step) -> Amounts:
    """Return what there will be more of."""
    return {name: amount for name, amount in _change(step).items() if amount > 0}


def _change(step: Step) -> Amounts:
    """Return what there will be more or less of; what is recreated is not there twice."""
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
    """Return what quotas count of an object (Kubernetes 1.34, pkg/quota/v1/evaluator/core)."""
    if live is None:
        return {}
    # Of Kubernetes' first API group objects were counted before there was a `count/`.
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
    storage = quantity.parse(((spec.get("resources") or {}).get("requests") or {}).get("storage")) or _NOTHING
    storage_class = spec.get("storageClassName")
    if not storage_class:
        return {STORAGE: storage}
    prefix = f"{storage_class}.storageclass.storage.k8s.io"
    return {STORAGE: storage, f"{prefix}/{STORAGE}": storage, f"{prefix}/persistentvolumeclaims": _ONE}


_MEASURED = {"Service": _of_service, "PersistentVolumeClaim": _of_claim}
