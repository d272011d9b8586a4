# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which changes start a run."""

from __future__ import annotations

from typing import Any

from .client import Json
from .informer import Change, What
from .label_selector import selected
from .watches import Watch


def of_primary(change: Change, watch: Watch) -> bool:
    """Whether a change of a resource of the watch's own kind is one to act on: not one of status or labels alone."""
    if not selected(change.new["metadata"].get("labels") or {}, watch.selector):
        return False
    if change.what is not What.UPDATED:
        return True
    old, new = change.old["metadata"], change.new["metadata"]
    generations = old.get("generation", 0), new.get("generation", 0)
    annotated = (old.get("annotations") or {}) != (new.get("annotations") or {})
    # kinds without generations, such as Secrets, change with any update
    return generations[0] != generations[1] or not any(generations) or (watch.watch_annotations_changes and annotated)


def of_dependent(change: Change) -> bool:
    """Whether a change of an owned object is one to act on: not its creation, nor one of its status alone."""
    if change.what is What.UPDATED:
        return _without_noise(change.old) != _without_noise(change.new)
    return change.what is What.DELETED


def _without_noise(document: Json) -> Json:
    metadata: dict[str, Any] = {**document["metadata"], "resourceVersion": ""}
    fields = [{**entry, "time": None} for entry in metadata.get("managedFields") or []]
    return {**document, "metadata": {**metadata, "managedFields": fields}, "status": None}
