# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator with our watches.yaml, the installed collection, and a ServiceAccount with the rights of config/rbac."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.druidops.druid.build.layout import write_runner
from ansible_collections.druidops.druid.tests.system.live import Live, condition
from ansible_collections.druidops.druid.tests.system.operator_account import Account, account
from ansible_collections.druidops.druid.tests.system.waiting import eventually
from testbed.audit import AuditEvent, Mark
from testbed.operator.started import Operator
from testbed.operator_plugin import StartOperator

COLLECTION = Path(__file__).parents[2]
INSTALLED = Path(os.environ.get("DRUIDOPS_INSTALLED", "."))


@dataclass(frozen=True)
class DruidOperator:
    """An operator that watches one namespace."""

    program: Operator
    live: Live
    account: Account

    def is_true(self, name: str, kind: str) -> bool:
        """True when a condition of the resource is true."""
        resource = self.live.get("Druid", name)
        return bool(resource.get("status")) and condition(resource, kind)["status"] == "True"

    def wait_until_ready(self, name: str) -> None:
        """Wait until the resource is ready."""
        eventually(lambda: self.is_true(name, "Ready"))

    def wait_until_settled(self, name: str) -> Mark:
        """Wait until the resource is ready and a run finds nothing to do; return where the audit log ends then."""
        self.wait_until_ready(name)
        eventually(lambda: self._run_had_nothing_to_do(name))
        return self.live.mark()

    def _run_had_nothing_to_do(self, name: str) -> bool:
        mark = self.live.mark()
        before = len(self.program.runs)
        self.touch(name)
        runs = self.program
        runs.wait_for("a run", lambda: len(runs.runs) > before and all(run.end for run in runs.runs))
        return {*self.requests(mark)} <= {("get", "druids"), ("get", "secrets")}

    def touch(self, name: str) -> None:
        """Have the operator run: it watches annotations."""
        self.live.merge("Druid", name, {"metadata": {"annotations": {"touched": secrets.token_hex(4)}}})

    def events(self, since: Mark) -> list[AuditEvent]:
        """Return all that the account has asked since the mark."""
        return self.live.requests(since, self.account.username)

    def requests(self, since: Mark) -> list[tuple[str, str]]:
        """Return verb and resource of what the account has asked since the mark, the watches of the cache left out."""
        return [(each.verb, each.resource) for each in self.events(since) if each.verb != "watch"]


def watches() -> list[dict[str, Any]]:
    """Return the entries of watches.yaml, their playbooks those of the installed collection."""
    entries: list[dict[str, Any]] = yaml.safe_load((COLLECTION / "watches.yaml").read_text(encoding="utf-8"))
    root = INSTALLED / "ansible_collections" / "druidops" / "druid"
    for entry in entries:
        for runs in (entry, entry["finalizer"]):
            runs["playbook"] = str(root / runs["playbook"])
    return entries


def start(operator: StartOperator, live: Live, directory: Path, **environment: str) -> DruidOperator:
    """Start it for the namespace; `directory` is for its credentials."""
    login = account(live.plane, live.namespace, directory)
    settings = {
        "ANSIBLE_COLLECTIONS_PATH": f"{INSTALLED}:{os.environ['DRUIDOPS_KUBERNETES_CORE_NEWEST']}",
        "DRUIDOPS_KUBECONFIG": str(login.kubeconfig),
        "RECONCILE_WAIT": "1h",
        **environment,
    }
    program = operator(
        watches(),
        programs=[_runner(directory)],
        namespaces=[live.namespace],
        environment=settings,
        kubeconfig=login.kubeconfig,
    )
    return DruidOperator(program, live, login)


def _runner(directory: Path) -> Path:
    """Return where the image's program in front of ansible-runner is."""
    found = directory / "runner"
    return found if found.exists() else write_runner(found, f"{os.environ['DRUIDOPS_OPERATOR']}/bin/python")
