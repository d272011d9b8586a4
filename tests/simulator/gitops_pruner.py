# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A GitOps tool that deletes what it takes for its own and does not find in its repository.

By label, as Argo CD does: objects with the instance label of the application, and without an owner.
"""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store

_INSTANCE = "app.kubernetes.io/instance"


def prune(store: Store, application: str, repository: frozenset[tuple[str, str]]) -> list[Manifest]:
    """Delete, and return, the objects of the application that are not in the repository (kind and name)."""
    found = [live for live in [*store.objects.values()] if _is_extra(live, application, repository)]
    for live in found:
        store.delete(live)
    return found


def _is_extra(live: Manifest, application: str, repository: frozenset[tuple[str, str]]) -> bool:
    metadata = live["metadata"]
    is_labelled = (metadata.get("labels") or {}).get(_INSTANCE) == application
    is_owned = bool(metadata.get("ownerReferences"))
    return is_labelled and not is_owned and (live["kind"], metadata["name"]) not in repository
