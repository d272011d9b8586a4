# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The writes of an operator, by the audit log: how often each object was created, and that a change requires it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from http import HTTPStatus

from ansible_collections.druidops.druid.tests.system.support.namespace_client import READS
from testbed.audit import AuditEvent

# One that is killed between an event and the status sends the event again; a lease is renewed by design.
_ASIDE = ("events", "leases")


def creations(events: Iterable[AuditEvent]) -> Counter[str]:
    """Return how often each object was created, whatever the request."""
    return Counter(
        f"{each.namespace}/{each.resource}/{each.name}"
        for each in events
        if each.code == HTTPStatus.CREATED and not each.dry_run and each.resource not in _ASIDE
    )


def written(events: Iterable[AuditEvent]) -> Counter[str]:
    """Return how often each object was written with success, its status left out."""
    return Counter(
        f"{each.verb} {each.namespace}/{each.resource}/{each.name}"
        for each in events
        if each.verb not in READS
        and each.code < HTTPStatus.BAD_REQUEST
        and not (each.dry_run or each.subresource or each.resource in _ASIDE)
    )


def repeated(counts: Counter[str]) -> dict[str, int]:
    """Return what was done more than once."""
    return {name: count for name, count in counts.items() if count > 1}
