# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods, as the controllers of workloads create and see them."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.tests.simulator.store import (
    Manifest,
    Store,
    controller_of,
    matches,
    reference_to,
)


def pod_of(owner: Manifest, name: str, template: Manifest, labels: dict[str, str], **spec: object) -> Manifest:
    """Return a new pod of a template."""
    own = template.get("metadata") or {}
    metadata = {
        "name": name,
        "namespace": owner["metadata"]["namespace"],
        "labels": {**(own.get("labels") or {}), **labels},
        "annotations": own.get("annotations") or {},
        "ownerReferences": [reference_to(owner)],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**template["spec"], **spec},
        "status": {"phase": "Pending"},
    }


def controlled_by(store: Store, kind: str, owner: Manifest) -> list[Manifest]:
    """Return the objects that the owner controls."""
    uid = owner["metadata"]["uid"]
    return [live for live in store.of_kind(kind) if (controller_of(live) or {}).get("uid") == uid]


def adopt(store: Store, kind: str, owner: Manifest) -> None:
    """Make the owner the controller of objects that match its selector and have none; release others."""
    selector = owner["spec"]["selector"]
    for live in store.of_kind(kind):
        references = live["metadata"].get("ownerReferences") or []
        controller = controller_of(live)
        is_match = matches(selector, live) and live["metadata"]["name"].startswith(f"{owner['metadata']['name']}-")
        if controller is None and is_match and not is_terminating(live):
            store.update_metadata(live, ownerReferences=[*references, reference_to(owner)])
        elif controller is not None and controller["uid"] == owner["metadata"]["uid"] and not is_match:
            kept = [each for each in references if each["uid"] != controller["uid"]]
            store.update_metadata(live, ownerReferences=kept)


def condition(pod: Manifest, kind: str) -> Manifest:
    """Return a condition of a pod; nothing if it does not have it."""
    conditions = pod["status"].get("conditions") or ()
    return next((each for each in conditions if each["type"] == kind), {})


def is_ready(pod: Manifest) -> bool:
    """True for a pod that serves."""
    return not is_terminating(pod) and condition(pod, "Ready").get("status") == "True"


def is_available(pod: Manifest, workload: Manifest, now: datetime) -> bool:
    """True for a pod that has been ready for the time that the workload specifies."""
    seconds = timedelta(seconds=workload["spec"].get("minReadySeconds") or 0)
    return is_ready(pod) and datetime.fromisoformat(condition(pod, "Ready")["lastTransitionTime"]) + seconds <= now


def digest(template: Manifest) -> str:
    """Return the revision of a pod template."""
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:10]
