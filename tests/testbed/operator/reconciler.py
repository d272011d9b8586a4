# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reconcile of one resource: from its live state to when it is reconciled again."""

from __future__ import annotations

import logging
import os
import random
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..api import ApiError
from .client import Client, Json
from .events import Verdict, verdict
from .go_duration import seconds
from .kinds import Key, Resource
from .launch import ANNOTATIONS, Launcher
from .owner import kubeconfig, owner_of

_LOG = logging.getLogger("reconciler")
_DELETED_MEANWHILE_SECONDS = 5.0


class ReconcileError(RuntimeError):
    """It has to be tried again, after a backoff."""


@dataclass(frozen=True)
class Reconciler:
    """Reconciles the resources of one kind; the period is in seconds, 0 for never again without a cause."""

    resource: Resource
    client: Client
    launcher: Launcher
    period: float
    proxy_port: int

    def reconcile(self, key: Key) -> float:
        """Run the playbook; in how many seconds the next run is due, 0 for never."""
        path = self.resource.path(key.namespace, key.name)
        # not from the cache, nor is the one after the run
        found = self._get(path)
        if found is None:
            return 0.0
        period = self._period(found)
        resource = self._with_finalizer(found, path)
        if resource is None:
            return 0.0
        result = self._run(key, {**resource, "spec": resource.get("spec") or {}})
        if result.requeue_after is not None:
            return result.requeue_after
        return self._after(path, resource, result, period)

    def _get(self, path: str) -> Json | None:
        try:
            return self.client.request("GET", path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def _period(self, resource: Json) -> float:
        """The author's period, or else the operator's; an invalid one blocks the resource."""
        text = (resource["metadata"].get("annotations") or {}).get(f"{ANNOTATIONS}reconcile-period")
        try:
            return self.period if text is None else seconds(text)
        except ValueError as error:
            raise ReconcileError(f"Unable to parse reconcile period annotation: {error}") from error

    def _with_finalizer(self, resource: Json, path: str) -> Json | None:
        """The resource with our finalizer; None if it is being deleted without it."""
        name = self._finalizer
        if name in _finalizers(resource):
            return resource
        if "deletionTimestamp" in resource["metadata"]:
            return None
        if not name:
            return resource
        return self.client.request("PUT", path, _finalized_by(resource, [*_finalizers(resource), name]))

    def _run(self, key: Key, resource: Json) -> Verdict:
        ident = str(random.getrandbits(63))
        begin = time.monotonic()
        with _kubeconfig(resource, self.proxy_port) as file:
            events, stdout = self.launcher.launch(ident, resource, file)
            result = verdict(events)
        _LOG.info("job=%s resource=%s seconds=%.1f %s", ident, key, time.monotonic() - begin, result)
        if not result.complete and result.requeue_after is None:
            text = stdout.read_text(errors="replace") if stdout.exists() else ""
            raise ReconcileError(f"did not receive playbook_on_stats event\n{text}")
        return result

    def _after(self, path: str, resource: Json, result: Verdict, period: float) -> float:
        live = self._get(path)
        if live is None:
            return 0.0
        name = self._finalizer
        if "deletionTimestamp" in resource["metadata"] and not result.failures:
            self.client.request("PUT", path, _finalized_by(live, set(_finalizers(live)) - {name}))
        elif "deletionTimestamp" in live["metadata"] and name:
            period = _DELETED_MEANWHILE_SECONDS
        if result.failures:
            raise ReconcileError(f"received failed task event: {'; '.join(result.failures)}")
        return period

    @property
    def _finalizer(self) -> str:
        finalizer = self.launcher.watch.finalizer
        return finalizer.name if finalizer else ""


def _finalizers(resource: Json) -> list[str]:
    return resource["metadata"].get("finalizers") or []


def _finalized_by(resource: Json, names: Iterable[str]) -> Json:
    return {**resource, "metadata": {**resource["metadata"], "finalizers": sorted(names)}}


@contextmanager
def _kubeconfig(resource: Json, port: int) -> Iterator[Path]:
    """The run's kubeconfig; removed when the run has ended, or as soon as it has requested a requeue."""
    descriptor, name = tempfile.mkstemp(prefix="kubeconfig")
    with os.fdopen(descriptor, "w") as file:
        file.write(kubeconfig(owner_of(resource), port))
    try:
        yield Path(name)
    finally:
        Path(name).unlink()
