# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Findings: what blocks a resource or a part of it, what it waits for, and what is to be reported. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import schema
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


class Rank(IntEnum):
    """How a finding that is not a problem counts in the conditions, the most important one first."""

    PAUSED = auto()
    DELETING = auto()
    # Pending changes, which a user has to permit.
    PENDING = auto()
    # What goes on in Druid, or in Kubernetes; and what keeps more pods of a group than specified.
    IN_DRUID = auto()
    UNDER_WAY = auto()
    KEEPS_PODS = auto()
    # It waits for Druid, and the resource may be Ready.
    WAITING = auto()
    NOTE = auto()


# Until the end of these, the resource is not Ready.
UNFINISHED = (Rank.PENDING, Rank.IN_DRUID, Rank.UNDER_WAY, Rank.KEEPS_PODS)


@dataclass(frozen=True)
class Finding:
    """A reason (constant), a message, and the group that it blocks.

    `group` None: the whole resource is blocked. `object` is the only object that the finding blocks, as kind and name;
    None: the whole group. A finding that is added to a plan blocks nothing. `is_problem` False: what is requested, or
    under way; then `rank` is how it counts.
    """

    reason: str
    message: str
    group: str | None = None
    is_problem: bool = True
    object: str | None = None
    rank: Rank = Rank.NOTE


DELETING = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False, rank=Rank.DELETING)


def first_finding(findings: Iterable[Finding], *expected: str) -> Finding | None:
    """Return the first finding with one of these reasons."""
    return next((finding for finding in findings if finding.reason in expected), None)


def of_rank(findings: Iterable[Finding], *ranks: Rank) -> Finding | None:
    """Return the most important finding that has one of these ranks, and is not a problem."""
    found = (finding for finding in findings if finding.rank in ranks and not finding.is_problem)
    return min(found, key=lambda finding: finding.rank, default=None)


def joined_messages(findings: Iterable[Finding]) -> str:
    """Return the first messages, and the number of the others."""
    return join_limited((finding.message for finding in findings), " | ")


_REMEDY = "The value was stored under another version of the CRD. Change the field."


def spec_errors(kind: str, resource: Manifest) -> tuple[Finding, ...]:
    """Return a finding for each field of the wrong type: it was stored under an older schema."""
    problems = schema.schema_errors(schema.spec_of(kind), resource.get("spec"))
    return tuple(Finding(reasons.INVALID_SPEC, f"{problem}. {_REMEDY}") for problem in problems)


# The Go operator's.
IGNORED_ANNOTATION = "druid.apache.org/ignored"


def pause_finding(annotations: Mapping[str, str], spec: Mapping[str, Any]) -> Finding | None:
    """Return the finding of a paused resource, by annotation or spec.paused; None if it is not paused."""
    if annotations.get(IGNORED_ANNOTATION) == "true":
        message = f"Paused by the annotation {IGNORED_ANNOTATION}. Remove it to apply changes."
        return Finding(reasons.IGNORED, message, is_problem=False, rank=Rank.PAUSED)
    if spec.get("paused"):
        message = "Paused by spec.paused. Remove it to apply changes."
        return Finding(reasons.PAUSED, message, is_problem=False, rank=Rank.PAUSED)
    return None


def pending_changes(titles: Sequence[str], problems: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return a finding about the changes that a pause defers, and about what blocks others, if there are any."""
    changes = f"{len(titles)} pending change{'' if len(titles) == 1 else 's'}: {join_limited(titles)}."
    blockers = f"Blocked by: {joined_messages(problems)}"
    message = " ".join(["Paused.", *([changes] if titles else ()), *([blockers] if problems else ())])
    finding = Finding(reasons.CHANGES_PENDING, message, is_problem=False, rank=Rank.PENDING)
    return (finding,) if titles or problems else ()


ALL_NAMESPACES = "*"


def is_allowed(namespace: str, own: str, allowed: Collection[str]) -> bool:
    """Return True for the resource's own namespace, and for namespaces that the administrator allows."""
    return namespace == own or namespace in allowed or ALL_NAMESPACES in allowed


def not_permitted(field: str, kind: str, name: str, namespace: str) -> Finding:
    """Return the finding for a reference that is not permitted."""
    return Finding(
        reasons.REF_NOT_PERMITTED,
        f"{field}: {kind} {name} is in namespace {namespace}. References to other namespaces are not permitted unless "
        "the administrator allows them: in the modules by allowed_reference_namespaces, in the roles by "
        "druid_cluster_allowed_reference_namespaces or druid_ingestion_allowed_reference_namespaces, in the operator "
        "by ALLOWED_REFERENCE_NAMESPACES.",
    )
