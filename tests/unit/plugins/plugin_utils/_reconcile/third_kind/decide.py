# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan for a Note. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.observe import Observed

FINALIZER = "example.com/note"


@dataclass(frozen=True)
class Step:
    """One write."""

    operation: Literal["create", "update", "delete", "finalize"]
    before: Manifest | None
    after: Manifest | None

    @property
    def title(self) -> str:
        manifest = self.after or self.before or {}
        return f"{self.operation} {manifest['kind']} {manifest['metadata']['name']}"


class Plan(plan.Plan[Step]):
    """The plan of a Note."""


def decide(observed: Observed) -> Plan:
    """Return the steps to a ConfigMap with the text; it is deleted with a terminating Note."""
    metadata, live = observed.resource["metadata"], observed.config_map
    if is_terminating(observed.resource):
        deletion = (Step("delete", live, None),) if live else ()
        final = (Step("finalize", observed.resource, None),) if FINALIZER in metadata["finalizers"] else ()
        return Plan((*deletion, *final), (Finding(reasons.DELETING, "The Note is being deleted.", is_problem=False),))
    desired: dict[str, Any] = {"text": observed.resource["spec"]["text"]}
    if live is not None and live["data"] == desired:
        return Plan()
    named = {"name": metadata["name"], "namespace": metadata["namespace"]}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, "data": desired}
    return Plan((Step("update" if live else "create", live, manifest),))
