# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The garbage collector: deletes objects whose owners are all gone, and carries out foreground and orphan deletion."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.tests.simulator.store import FOREGROUND, ORPHAN, Manifest, Store, key_of


def sync(store: Store) -> None:
    """Look once at each object."""
    for live in [*store.objects.values()]:
        finalizers = live["metadata"].get("finalizers") or ()
        if is_terminating(live) and ORPHAN in finalizers:
            _orphan(store, live)
        elif is_terminating(live) and FOREGROUND in finalizers:
            _delete_dependents(store, live)
    for live in [*store.objects.values()]:
        if live["metadata"].get("ownerReferences") and not is_terminating(live):
            _collect(store, live)


def _orphan(store: Store, owner: Manifest) -> None:
    for live, reference in store.dependents(owner):
        kept = [each for each in live["metadata"]["ownerReferences"] if each != reference]
        store.update_metadata(live, ownerReferences=kept)
    _remove_finalizer(store, owner, ORPHAN)


def _delete_dependents(store: Store, owner: Manifest) -> None:
    """Delete the dependents, and the owner when none is left that blocks it."""
    dependents = [*store.dependents(owner)]
    for live, _reference in dependents:
        if len(live["metadata"]["ownerReferences"]) == 1 and not is_terminating(live):
            store.delete(live, "Foreground")
    if not any(reference.get("blockOwnerDeletion") for _live, reference in dependents):
        _remove_finalizer(store, owner, FOREGROUND)


def _collect(store: Store, live: Manifest) -> None:
    """Delete an object without a living owner; otherwise remove only the references to deleted owners."""
    references = live["metadata"]["ownerReferences"]
    solid = [each for each in references if store.by_uid(each["uid"]) is not None]
    if not solid:
        store.delete(live)
    elif len(solid) < len(references):
        store.update_metadata(live, ownerReferences=solid)


def _remove_finalizer(store: Store, live: Manifest, finalizer: str) -> None:
    latest = store.objects[key_of(live)]
    kept = [each for each in latest["metadata"].get("finalizers") or () if each != finalizer]
    store.update_metadata(latest, finalizers=kept)
