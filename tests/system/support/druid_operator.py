# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator with our watches.yaml, the installed collection, and a ServiceAccount with the rights of config/rbac."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.druidops.druid.build.layout import write_programs
from ansible_collections.druidops.druid.build.runner import memory
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.cache_first import is_full_due
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import READS, NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.operator_account import Account, account
from ansible_collections.druidops.druid.tests.system.support.operator_writes import written
from testbed.audit import AuditEvent, Mark
from testbed.operator import resident
from testbed.operator.runs import Run
from testbed.operator.started import PROGRAM, Operator
from testbed.operator_plugin import StartOperator

COLLECTION = Path(__file__).parents[3]
INSTALLED = Path(os.environ.get("DRUIDOPS_INSTALLED", "."))
# The account may have this one.
LEASE = "druid-operator"


def _timeout(names: Sequence[str]) -> float:
    """Return how long is waited for a run of each, in seconds."""
    return 120 + 60 * len(names)


@dataclass(frozen=True)
class DruidOperator:
    """An operator, as seen from one of the namespaces that it watches, and by one of the kinds."""

    program: Operator
    live: NamespaceClient
    account: Account
    kind: str = "Druid"

    @property
    def cache_read(self) -> tuple[str, str]:
        """What ansible-operator itself requests: before each run, and after each that did not ask for the next one."""
        return "get", f"{self.kind.lower()}s"

    def seen_from(self, live: NamespaceClient) -> DruidOperator:
        """Return the same operator as seen from another namespace."""
        return replace(self, live=live)

    def is_true(self, name: str, kind: str) -> bool:
        """True when a condition of the resource is true."""
        resource = self.live.get(self.kind, name)
        return bool(resource.get("status", {}).get("conditions")) and condition(resource, kind)["status"] == "True"

    def wait_until_ready(self, name: str) -> None:
        """Wait until the resource is ready, or has no pods, as specified."""
        eventually(lambda: self._is_reached(name), otherwise=lambda: self.diagnostics(name))

    def _is_reached(self, name: str) -> bool:
        status = self.live.get(self.kind, name).get("status", {})
        return self.is_true(name, "Ready") or status.get("reason") == reasons.NO_PODS

    def diagnostics(self, name: str) -> str:
        """What is to be seen of a resource that does not become ready: the causes are in one of these places."""
        nodes = self.live.plane.request("GET", "/api/v1/nodes")["items"]
        state = {
            "status": self.live.get(self.kind, name).get("status"),
            "pods": {each["metadata"]["name"]: each["status"] for each in self.live.list("Pod")},
            "nodes": [each["status"]["conditions"] for each in nodes],
            "claims": [each["status"] for each in self.live.list("PersistentVolumeClaim")],
            "runs": [(run.begin, run.end, run.status) for run in self.program.runs_of(name)],
            "events": [(each["reason"], each.get("message")) for each in self.live.list("Event")],
        }
        return f"for {name}: {json.dumps(state, indent=1)}\n{self.program.log[-5000:]}"

    def wait_until_settled(self, *names: str) -> Mark:
        """Wait until the resources are ready and a run of each is idle; return the end of the audit log then."""
        for name in names:
            self.wait_until_ready(name)
        eventually(lambda: self._runs_had_nothing_to_do(names), 2 * _timeout(names))
        return self.live.mark()

    def _runs_had_nothing_to_do(self, names: Sequence[str]) -> bool:
        mark, before = self.live.mark(), len(self.program.runs)
        for name in names:
            self.touch(name)
        self.program.wait_for(
            "a run of each",
            lambda: self._have_run(self.program.runs[before:], names, mark),
            timeout=_timeout(names),
        )
        # a full reconcile reads the API server
        return all(verb in READS for verb, _resource in self.requests(mark))

    def _have_run(self, runs: Sequence[Run], names: Sequence[str], since: Mark) -> bool:
        """True if all of them have been run, nothing runs any more, and a cache read has followed each."""
        if not (all(run.end for run in runs) and {run.name for run in self._here(runs)} >= {*names}):
            return False
        cache_reads = [
            each for each in self.events(since) if each.verb == "get" and each.user_agent.startswith(PROGRAM)
        ]
        return all(
            any(cache_read.name == run.name and cache_read.received > run.begin for cache_read in cache_reads)
            for run in self._here(runs)
        )

    def _here(self, runs: Sequence[Run]) -> list[Run]:
        return [run for run in runs if run.namespace == self.live.namespace]

    def touch(self, name: str) -> None:
        """Have the operator run: it watches annotations."""
        self.live.merge(self.kind, name, {"metadata": {"annotations": {"touched": secrets.token_hex(4)}}})

    def is_writing(self, since: Mark) -> bool:
        """True as soon as the account has written anything since the mark; it probably still does."""
        return bool(written(self.live.plane.audit.since(since, self.account.username)))

    def events(self, since: Mark) -> list[AuditEvent]:
        """Return all requests of the account since the mark."""
        return self.live.requests(since, self.account.username)

    def requests(self, since: Mark) -> list[tuple[str, str]]:
        """Return verb and resource of the requests of the account since the mark, without watches and the lease."""
        counted = (each for each in self.events(since) if each.verb != "watch" and each.resource != "leases")
        return [(each.verb, each.resource) for each in counted]


def watches(root: Path = INSTALLED / "ansible_collections" / "druidops" / "druid") -> list[dict[str, Any]]:
    """Return the entries of watches.yaml, their playbooks in this directory, by default the installed collection."""
    entries: list[dict[str, Any]] = yaml.safe_load((COLLECTION / "watches.yaml").read_text(encoding="utf-8"))
    for entry in entries:
        for runs in (entry, entry["finalizer"]):
            runs["playbook"] = str(root / runs["playbook"])
    return entries


def period_without_full_reconcile(uid: str) -> str:
    """Return a period with which no reconcile of this resource reads the API server in the next half an hour."""
    now = Clock().now()
    soon = [now + timedelta(minutes=minutes) for minutes in range(31)]
    return next(f"{h}h" for h in range(1, 100) if not any(is_full_due(uid, 3600 * h, each) for each in soon))


def election(namespace: str) -> list[str]:
    """Return the flags with which replicas choose a leader."""
    return ["--leader-elect", f"--leader-election-id={LEASE}", f"--leader-election-namespace={namespace}"]


def start(
    operator: StartOperator,
    live: NamespaceClient,
    directory: Path,
    *,
    namespaces: Sequence[str] | None = None,
    login: Account | None = None,
    kubeconfig: Path | None = None,
    direct: Path | None = None,
    flags: Sequence[str] = (),
    is_replica: bool = False,
    **environment: str,
) -> DruidOperator:
    """Start it, by default for the namespace; `directory` is for its credentials.

    login: another operator's account. kubeconfig, direct: those by which the operator, and its runs past its proxy,
    reach the API server, by default the account's. flags, is_replica: as Setting has them. The rest is for the
    environment.
    """
    login = login or account(live.plane, live.namespace, directory)
    settings = {
        "ANSIBLE_COLLECTIONS_PATH": f"{INSTALLED}:{os.environ['DRUIDOPS_KUBERNETES_CORE_NEWEST']}",
        "DRUIDOPS_KUBECONFIG": str(direct or login.kubeconfig),
        "RECONCILE_WAIT": "1h",
        # as the container's program does
        memory.WORKERS: memory.of_flag(flags),
        # the Druid of the tests
        "ALLOW_OWN_HOST": "true",
        **resident.variables(directory / "warm-runner"),
        **environment,
    }
    program = operator(
        watches(),
        programs=[_runner(directory)],
        namespaces=[live.namespace] if namespaces is None else namespaces,
        environment=settings,
        kubeconfig=kubeconfig or login.kubeconfig,
        flags=flags,
        is_replica=is_replica,
    )
    return DruidOperator(program, live, login)


def _runner(directory: Path) -> Path:
    """Return where the image's program in front of ansible-runner is."""
    found = directory / "programs" / "bin"
    return found if found.exists() else write_programs(found, f"{os.environ['DRUIDOPS_OPERATOR']}/bin/python")
