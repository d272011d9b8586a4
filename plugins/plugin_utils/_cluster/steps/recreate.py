# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recreation of an object with a changed immutable field: its pods keep running, and the new one adopts them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.differences import change_text
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import UPDATE, Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    CONFLICT,
    FORBIDDEN,
    ApiError,
    KubernetesError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import merge
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    KINDS,
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, Operation, StepResult
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import parse_quantity

DELETION_ATTEMPTS = 100
DELETION_PAUSE_SECONDS = 0.1
# A name for dry runs; with it a StatefulSet's pods still have room for their ordinals.
_PROBE = "dry-run"
_LONGEST_STEM = 44


class DeletionTimeout(KubernetesError):
    """An object is still terminating after the timeout."""


@dataclass(frozen=True, kw_only=True)
class Recreate(Apply):
    """The deletion of the live object without its pods, and its creation as desired."""

    live: Manifest
    recreates: ClassVar[bool] = True

    @property
    def operation(self) -> Operation:
        return UPDATE._replace(verb="recreate")

    @property
    def remark(self) -> str:
        return " (immutable field; pods keep running)"

    @property
    def message(self) -> str:
        changes = change_text(self.live, self.after)
        return f"Recreated [{self.key.name}:*v1.{self.key.kind}], leaving its pods.{changes}"

    def without_restart(self) -> Step | None:
        return None

    def dry_run(self, context: Context) -> Verdict:
        self._delete(context, dry_run=True)
        return self.dry_run_of_creation(context)

    def dry_run_of_creation(self, context: Context) -> Verdict:
        return Verdict(*self._at_latest_version(context, lambda latest: latest._created_in_dry_run(context)))

    def _created_in_dry_run(self, context: Context) -> Manifest:
        """Validate the object under its own name, and get the result under an unused name.

        Its own name exists until the old object is deleted; the server checks that last, after the validation.
        """
        manifest = self._new_manifest
        name = manifest["metadata"]["name"]
        elsewhere = {**manifest["metadata"], "name": f"{name[:_LONGEST_STEM]}-{_PROBE}"}
        try:
            self._validate_own_name(context)
            after = self._send(context, {**manifest, "metadata": elsewhere}, dry_run=True)
        except ApiError as error:
            if not leaves_room(error, self.key.kind):
                raise
            return merge(self.live, self.created)
        return {**after, "metadata": {**after["metadata"], "name": name}}

    def _validate_own_name(self, context: Context) -> None:
        try:
            context.api.create(self.created, dry_run=True)
        except ApiError as error:
            if error.status != CONFLICT:
                raise

    def has_effect(self, _after: Manifest) -> bool:
        return True

    def carry_out(self, context: Context) -> StepResult[Step]:
        """Delete the object, wait for the end of that, and create it: an apply before would update the old one."""
        if not is_terminating(self.live):
            if self.key.kind in WORKLOADS:
                self._at_latest_version(context, lambda latest: latest._delete(context))
            else:
                self._delete(context)
        self._wait_for_deletion(context)
        live = self._create(context)
        return StepResult(self, live if self.initial is None else self._without_initial(context, live))

    def _delete(self, context: Context, dry_run: bool = False) -> None:
        """Delete the object, but not its pods; a workload in the version that was read.

        An autoscaler may change the replicas: the new workload would have the earlier number, and stop a pod.
        """
        (kind, name), metadata = self.key, self.live["metadata"]
        if is_terminating(self.live):
            return
        if kind not in WORKLOADS:
            context.api.delete(kind, self.namespace, name, metadata["uid"], dry_run=dry_run)
        else:
            version = None if dry_run else metadata.get("resourceVersion")
            context.api.delete(
                kind, self.namespace, name, metadata["uid"], "Orphan", dry_run=dry_run, resource_version=version
            )

    def _wait_for_deletion(self, context: Context) -> None:
        (kind, name), metadata = self.key, self.live["metadata"]
        for _attempt in range(DELETION_ATTEMPTS):
            present = context.api.get(kind, self.namespace, name)
            if present is None or present["metadata"]["uid"] != metadata["uid"]:
                return
            context.api.sleep(DELETION_PAUSE_SECONDS)
        holders = ", ".join(metadata.get("finalizers") or ()) or "its dependents"
        raise DeletionTimeout(
            f"{kind} {name} must be recreated, but is still being deleted after "
            f"{DELETION_ATTEMPTS * DELETION_PAUSE_SECONDS:.0f} s, blocked by {holders}. A later reconcile recreates it."
        )

    def _create(self, context: Context) -> Manifest:
        """Create the object; retry while a quota still counts the deleted one."""
        for _attempt in range(DELETION_ATTEMPTS):
            try:
                return self._send(context, self._new_manifest)
            except ApiError as error:
                if not leaves_room(error, self.key.kind):
                    raise
            context.api.sleep(DELETION_PAUSE_SECONDS)
        return self._send(context, self._new_manifest)


# The message of the admission plugin ResourceQuota.
_EXCEEDED = re.compile(
    r"exceeded quota: .*?, requested: (?P<requested>.*?), used: (?P<used>.*?), limited: (?P<limit>.*)"
)


def leaves_room(error: ApiError, kind: str) -> bool:
    """True for a rejection by an object count quota that is exceeded only while the old object exists."""
    match = _EXCEEDED.search(error.message) if error.status == FORBIDDEN else None
    if match is None:
        return False
    requested, used, limited = (_amounts(match[name]) for name in ("requested", "used", "limit"))
    counted = {f"count/{KINDS[kind].resource}", KINDS[kind].plural}
    return requested.keys() <= counted and all(_fits(used.get(name), limited.get(name)) for name in requested)


def _amounts(text: str) -> Mapping[str, str]:
    """Return the amounts of a list such as ``count/services=1,services=1``."""
    return {name: amount for name, _equals, amount in (part.partition("=") for part in text.split(","))}


def _fits(used: str | None, limited: str | None) -> bool:
    there, most = parse_quantity(used), parse_quantity(limited)
    return there is not None and most is not None and there <= most
