# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a pass would do, as a value: steps in order, and what stands in the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import ObjectKey, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import Converge

Operation = Literal["create", "update", "recreate", "delete", "patch"]


@dataclass(frozen=True)
class Step:
    """One write. `group` is the key of the group it belongs to, None for what all groups share.

    `live` is what it was decided on (None: the object is to be made), `after` what will be there (None: nothing);
    `managed_fields` the field ownership that has to be established before, `patch` a JSON patch in place of an apply.
    `initial` is what an object is made from when that is more than the lasting manifest: the first replicas of a
    workload that an autoscaler governs, what others had added to the object that is recreated.
    """

    operation: Operation
    manifest: Manifest
    group: str | None = None
    live: Manifest | None = None
    after: Manifest | None = None
    managed_fields: list[dict[str, Any]] | None = None
    patch: list[dict[str, Any]] | None = None
    initial: Manifest | None = None

    @property
    def key(self) -> ObjectKey:
        return key_of(self.manifest)

    @property
    def has_duplicate_keys(self) -> bool:
        """True when an object is made with a pod template that says something twice: an apply would be refused."""
        return self.initial is not None and "template" in self.initial["spec"].keys() - self.manifest["spec"].keys()

    @property
    def removes_group(self) -> bool:
        """True for the removal of what belonged to a group that the specification has no longer."""
        return self.operation == "delete" and self.group is None

    @property
    def restarts_pods(self) -> bool:
        """True when the write changes the pod template of a running workload."""
        if self.key.kind not in WORKLOADS or self.live is None or self.after is None:
            return False
        return bool(self.live["spec"]["template"] != self.after["spec"]["template"])


# Is told of a step that is about to be carried out.
OnStep = Callable[[Step], None]


def noop(step: Step) -> None:
    """Tell nobody of a step."""


@dataclass(frozen=True)
class Plan:
    """All writes of a pass in their order, what is in the way of others, and remarks for the user.

    `in_druid` are those that come after all of Kubernetes: what the resource states about Druid itself.
    """

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    in_druid: tuple[Converge, ...] = ()

    @property
    def changes(self) -> bool:
        return bool(self.steps or self.in_druid)

    @property
    def restarting_steps(self) -> tuple[Step, ...]:
        """The steps that restart pods, in the order in which they will be carried out."""
        return tuple(step for step in self.steps if step.restarts_pods)
