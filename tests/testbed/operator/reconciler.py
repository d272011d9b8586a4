# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is done about one resource: from the cache's view of it to when it is looked at again."""

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
from typing import Any

from ..api import ApiError
from .author_annotations import reconcile_period
from .cache import Cache
from .client import Client, Json
from .kinds import Key, Resource
from .launch import Launcher, LaunchError
from .log_events import told_of
from .marking import mark_error
from .owner import kubeconfig, owner_of
from .verdict import Verdict, verdict

_LOG = logging.getLogger("reconciler")
_DELETED_MEANWHILE = 5.0


class ReconcileError(RuntimeError):
    """It has to be tried again, later each time."""


@dataclass(frozen=True)
class Reconciler:
    """Reconciles the resources of one kind; the period is in seconds, 0 for never again without a cause."""

    resource: Resource
    client: Client
    cache: Cache
    launcher: Launcher
    period: float
    proxy_port: int
    log_events: str

    def reconcile(self, key: Key) -> float:
        """Run the playbook; in how many seconds the next run is due, 0 for never."""
        found = self.cache.get(self.resource, key)
        if found is None:
            return 0.0
        path = self.resource.path(key.namespace, key.name)
        period = self._period(found, path)
        resource = self._with_finalizer(found, path)
        if resource is None:
            _LOG.info("Resource is terminated, skipping reconciliation resource=%s", key)
            return 0.0
        said = self._run(key, path, {**resource, "spec": _spec(resource)})
        if said.requeue_after is not None:
            return said.requeue_after
        return self._after(path, resource, said, period)

    def _period(self, resource: Json, path: str) -> float:
        try:
            return reconcile_period(resource, self.period)
        except ValueError as error:
            mark_error(self.client, path, f"Unable to parse reconcile period annotation: {error}")
            raise ReconcileError(f"reconcile-period: {error}") from error

    def _with_finalizer(self, resource: Json, path: str) -> Json | None:
        """The resource with our finalizer; None if it is being deleted without one."""
        name = self._finalizer
        if name in _finalizers(resource):
            return resource
        if "deletionTimestamp" in resource["metadata"]:
            return None
        if not name:
            return resource
        return self.client.request("PUT", path, _finalized_by(resource, [*_finalizers(resource), name]))

    def _run(self, key: Key, path: str, resource: Json) -> Verdict:
        ident = str(random.getrandbits(63))
        what = f"job={ident} kind={self.resource.kind.kind} resource={key}"
        _LOG.info("run begins %s generation=%s", what, resource["metadata"].get("generation"))
        begin = time.monotonic()
        with _kubeconfig(resource, self.proxy_port) as file:
            try:
                events, artifacts = self.launcher.launch(ident, resource, file)
            except (LaunchError, OSError) as error:
                mark_error(self.client, path, "Unable to run reconciliation")
                raise ReconcileError(str(error)) from error
            said = verdict(told_of(events, self.log_events, what))
        _LOG.info("run ends %s seconds=%.1f outcome=%s", what, time.monotonic() - begin, _outcome(said))
        if not said.complete and said.requeue_after is None:
            raise ReconcileError(f"did not receive playbook_on_stats event\n{_text(artifacts / 'stdout')}")
        return said

    def _after(self, path: str, resource: Json, said: Verdict, period: float) -> float:
        try:
            live = self.client.request("GET", path)
        except ApiError as error:
            if error.status == 404:
                return 0.0
            raise
        name = self._finalizer
        if "deletionTimestamp" in resource["metadata"] and name and not said.failures:
            self.client.request("PUT", path, _finalized_by(live, set(_finalizers(live)) - {name}))
        elif "deletionTimestamp" in live["metadata"] and name:
            period = _DELETED_MEANWHILE
        if said.failures:
            raise ReconcileError(f"received failed task event: {'; '.join(said.failures)}")
        return period

    @property
    def _finalizer(self) -> str:
        finalizer = self.launcher.watch.finalizer
        return finalizer.name if finalizer else ""


def _spec(resource: Json) -> dict[str, Any]:
    """The spec, an empty one for kinds without."""
    spec = resource.get("spec")
    return spec if isinstance(spec, dict) else {}


def _finalizers(resource: Json) -> list[str]:
    return resource["metadata"].get("finalizers") or []


def _finalized_by(resource: Json, names: Iterable[str]) -> Json:
    return {**resource, "metadata": {**resource["metadata"], "finalizers": sorted(names)}}


@contextmanager
def _kubeconfig(resource: Json, port: int) -> Iterator[Path]:
    """The run's kubeconfig, which is gone when the run has ended or is not waited for any more."""
    descriptor, name = tempfile.mkstemp(prefix="kubeconfig")
    with os.fdopen(descriptor, "w") as file:
        file.write(kubeconfig(owner_of(resource), port))
    try:
        yield Path(name)
    finally:
        Path(name).unlink()


def _outcome(said: Verdict) -> str:
    if said.requeue_after is not None:
        return f"requeue_after={said.requeue_after:g}s"
    if not said.complete:
        return "incomplete"
    return f"failures={len(said.failures)}" if said.failures else "ok"


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
