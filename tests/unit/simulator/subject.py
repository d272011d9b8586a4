# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program under test in a simulated world: its runs, and the user who specifies the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

import urllib3
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache import CachedApi, StaleCache
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.cache_first import cache_first
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request as Task
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.simulator import managed_fields
from ansible_collections.druidops.druid.tests.simulator.server import Refused, Request, Server, uninterrupted
from ansible_collections.druidops.druid.tests.simulator.specification import (
    NAME,
    NAMESPACE,
    Cluster,
    changed_resource,
    resource,
)
from ansible_collections.druidops.druid.tests.simulator.store import Manifest
from ansible_collections.druidops.druid.tests.simulator.world import World
from ansible_collections.druidops.druid.tests.unit.simulator.documented import DocumentedDeletions

By = Literal["playbook", "operator"]
# What can happen to a request. A kill ends the run; "lost" requests get no response.
Fault = Literal["killed before", "killed after", "lost before", "lost after", "500", "409"]

PERIOD_SECONDS = 60
_ABSENT = Task(NAME, NAMESPACE, Options(), absent=True)
_Result = TypeVar("_Result")


class Killed(BaseException):
    """The process of the run was killed."""


class Version(NamedTuple):
    """What the user specified, and the resource that was stored."""

    cluster: Cluster
    stored: Manifest


@dataclass
class Subject:
    """A cluster, its user, and its operator. `cluster` is what the user wants now, None: deleted."""

    world: World = field(default_factory=World)
    cluster: Cluster | None = None
    documented: DocumentedDeletions = field(default_factory=DocumentedDeletions)
    # Every version of the resource that a second playbook may have read.
    versions: list[Version] = field(default_factory=list)
    # The uids of the pods at a deletion of the resource, which also deletes their addresses.
    deleted_pods: set[str] = field(default_factory=set)
    # The uids of the PVCs whose marks the user has removed.
    unmarked: set[str] = field(default_factory=set)
    # The names of the PVCs whose deletion was requested before the user did something in the middle of a run.
    deleted_before: set[str] = field(default_factory=set)

    @property
    def live(self) -> Manifest | None:
        return self.world.store.get(names.KIND, NAMESPACE, NAME)

    def specify(self, cluster: Cluster) -> None:
        """Create or change the resource; a terminating one cannot be changed in a way that matters."""
        live = self.live
        if live is not None and is_terminating(live):
            return
        self.cluster = cluster
        self.documented.specify(cluster)
        if live is None:
            stored = self.world.store.create(resource(cluster))
        else:
            stored = self.world.store.update(changed_resource(live, cluster))
        self.versions.append(Version(cluster, stored))

    def delete(self, propagation: str) -> None:
        """Delete the resource."""
        live = self.live
        if live is None or is_terminating(live) or self.cluster is None:
            return
        self._note_deletion(self.cluster, propagation)
        self.cluster = None
        self.world.store.delete(live, propagation)

    def remove(self, fault: tuple[int, Fault] | None = None) -> None:
        """Delete the resource with a playbook's `state: absent`, or continue its deletion."""
        if self.cluster is not None:
            self._note_deletion(self.cluster, "Background")
        self._interrupted(fault, lambda: DRUID.delete_resource(self.world.api(), _ABSENT, _silent, self._waiting))
        self.cluster = self.cluster if self._is_present else None

    def _note_deletion(self, cluster: Cluster, propagation: str) -> None:
        self.documented.delete(cluster, propagation)
        self.deleted_pods |= {pod["metadata"]["uid"] for pod in self.world.store.of_kind("Pod")}

    @property
    def _is_present(self) -> bool:
        return self.live is not None and not is_terminating(self.live)

    @property
    def _waiting(self) -> Clock:
        return Clock(sleep=self.world.sleep, now=self.world.clock.now)

    def run(
        self, by: By = "operator", fault: tuple[int, Fault] | None = None, check_mode: bool = False
    ) -> Report[Plan] | None:
        """Reconcile as a playbook or the operator does; None if there is nothing to reconcile, or the run failed."""
        if by == "operator" and not check_mode:
            self._set_finalizer()
        live = self.live
        if live is None:
            return None
        options = Options(check_mode=check_mode, keep_finalizer=by == "operator")
        return self._interrupted(
            fault, lambda: DRUID.reconcile(self.world.api(), live, options, self.world.clock.now())
        )

    def run_on_cache(self, ages: Mapping[str, int], fault: tuple[int, Fault] | None = None) -> Report[Plan] | None:
        """Reconcile as the operator does, which first reads a cache; None as above. `ages`: see `Store.as_of`."""
        self._set_finalizer()
        cache = KubernetesApi("https://cache", Server(self.world.store.as_of(ages)), sleep=lambda _seconds: None)
        cached = CachedApi.of(cache, connect=self.world.api, owner="Druid")
        request, now = Task(NAME, NAMESPACE, Options(keep_finalizer=True)), self.world.clock.now

        def on_server(api: KubernetesApi) -> Outcome[Plan]:
            live, outcome = api.get(names.KIND, NAMESPACE, NAME), Outcome(Plan())
            return outcome if live is None else outcome.after(DRUID.reconcile(api, live, request.options, now()))

        outcome = self._interrupted(
            fault, lambda: cache_first(DRUID, request, cached, PERIOD_SECONDS, now(), on_server, _is_stale)
        )
        return None if outcome is None else outcome.report

    def _interrupted(self, fault: tuple[int, Fault] | None, run: Callable[[], _Result]) -> _Result | None:
        """Return the result of the run, in which a request may fail; None if the run failed."""
        if fault is not None:
            self._inject(*fault)
        try:
            return run()
        except (Killed, KubernetesError):
            return None
        finally:
            self.world.server.interrupt = uninterrupted

    def _set_finalizer(self) -> None:
        """Set the finalizer, as ansible-operator does before a run."""
        live = self.live
        if live is None or is_terminating(live) or names.FINALIZER in (live["metadata"].get("finalizers") or ()):
            return
        finalizers = [*(live["metadata"].get("finalizers") or ()), names.FINALIZER]
        after = {**live, "metadata": {**live["metadata"], "finalizers": finalizers}}
        self.world.store.update(managed_fields.updated(live, after, "ansible-operator"))

    def _inject(self, number: int, fault: Fault) -> None:
        remaining = iter(range(number))

        def interrupt(_request: Request, when: Literal["before", "after"]) -> None:
            if when == ("after" if fault.endswith("after") else "before") and next(remaining, None) is None:
                self.world.server.interrupt = uninterrupted
                _fail(fault)

        self.world.server.interrupt = interrupt


def _fail(fault: Fault) -> None:
    if fault.startswith("killed"):
        raise Killed
    if fault.startswith("lost"):
        raise urllib3.exceptions.ProtocolError("the connection was lost")
    raise Refused(int(fault), "a failure of the server")


def _is_stale(error: KubernetesError) -> None:
    assert isinstance(error, StaleCache), error


def _silent(line: str) -> None:
    """Show no progress."""
