# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The measured operator: the files of the image, an account with the permissions of config/rbac, and its clusters."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import yaml
from ansible_collections.druidops.druid.tests.system.support.druid_operator import period_without_full_reconcile
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.operator_account import Account, account
from testbed.audit import AuditEvent, Mark
from testbed.control_plane import ControlPlane
from testbed.dockerfile import Dockerfile
from testbed.operator.events import Events
from testbed.operator.owner import kubeconfig, owner_of
from testbed.operator.resident import DIRECTORY
from testbed.operator.runs import INPUT, RUNNER
from testbed.operator.started import METRICS_PORT, PROXY_PORT, Operator, Setting, only_one, real_program
from testbed.ports import reserved_ports

from . import usage
from .clusters import NAMESPACE, OTHER_NAMESPACE, resource
from .measure import Cost, Program, middle, run

GROUPS = 4
PERIOD_SECONDS = 60
# So long that nothing else but the period starts a run.
IDLE_SECONDS = 2 * PERIOD_SECONDS
BUSY_SECONDS = 20
RESTORES = 10
# No cluster ever waits: all of them are due all the time.
NO_PERIOD = "100ms"
_DRUIDS, _OTHERS = (
    f"/apis/druid.apache.org/v1alpha1/namespaces/{each}/druids" for each in (NAMESPACE, OTHER_NAMESPACE)
)
# As shipped; ansible-operator's own default is the number of processors.
WORKERS = "4"
_SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
_BUDGETS = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"
_MERGE = "application/merge-patch+json"
_USER = "person"
_LONGEST_SECONDS = 1800
# The image's environment, as far as it is not about paths in a container.
_OF_IMAGE = ("ANSIBLE_STDOUT_CALLBACK", "GOGC", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True)
class Image:
    """The directory with the files of the image, and its Dockerfile."""

    directory: Path
    dockerfile: Dockerfile

    def watches(self) -> list[dict[str, Any]]:
        """Return the entries of watches.yaml, with the paths of the playbooks."""
        entries: list[dict[str, Any]] = yaml.safe_load((self.directory / "watches.yaml").read_text(encoding="utf-8"))
        for entry in entries:
            for runs in (entry, entry["finalizer"]):
                runs["playbook"] = str(self.directory / runs["playbook"])
        return entries


def lay_out(directory: Path, commit: str | None = None) -> Image:
    """Create the files of the image in the directory, where they are used: of this checkout, or of a commit of it."""
    checkout = Path.cwd()
    if commit:
        checkout = directory.with_name(f"{directory.name}-checkout")
        subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", ".", str(checkout)], check=True)
        subprocess.run(["git", "-C", str(checkout), "checkout", "--quiet", "--detach", commit], check=True)
    packages, collections = os.environ["DRUIDOPS_OPERATOR"], os.environ["DRUIDOPS_KUBERNETES_CORE_NEWEST"]
    command = [sys.executable, "-m", "tools.ci.image_layout", str(directory), packages, collections]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([*command, "--at", str(directory)], check=True, cwd=checkout, env=environment)
    return Image(directory, Dockerfile.read(checkout / "build" / "Dockerfile"))


@dataclass(frozen=True)
class Measured:
    """A running operator."""

    plane: ControlPlane
    program: Operator
    account: Account
    log: Path
    image: Image

    def lines(self) -> list[dict[str, Any]]:
        """Return the line of each reconcile until now; none of them is one of ansible-runner, which is not measured."""
        found = [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []
        assert all("name" in line for line in found), next(line for line in found if "name" not in line)
        return found

    def create(self, names: Sequence[str]) -> dict[str, float]:
        """Create the clusters; return time and CPU time until all are ready, and requests until all are settled."""
        mark, begin, before = self.plane.audit.mark(), time.monotonic(), usage.cpu_seconds(self.program)
        for name in names:
            self.plane.request("POST", _DRUIDS, resource(name, GROUPS), user=_USER)
        eventually(lambda: self._ready() >= {*names}, _LONGEST_SECONDS, otherwise=lambda: self.program.log[-3000:])
        took, spent = time.monotonic() - begin, usage.cpu_seconds(self.program) - before
        self.settle(names)
        return {"wall": took, "cpu": spent, "requests": len(self._requests(mark))}

    def warm_up(self, name: str) -> None:
        """Create a cluster and delete it again: in production, the first run of an operator was long ago."""
        self.create([name])
        self.plane.request("DELETE", f"{_DRUIDS}/{name}", user=_USER)
        eventually(lambda: not self._left(), _LONGEST_SECONDS)

    def settle(self, names: Sequence[str]) -> None:
        """Wait until the last reconcile of each has found nothing to do, and none is in progress."""
        eventually(lambda: self._is_settled(names), _LONGEST_SECONDS, otherwise=lambda: self.program.log[-3000:])

    def _is_settled(self, names: Sequence[str]) -> bool:
        last = {line["name"]: line for line in self.lines()}
        time.sleep(0.2)
        return all(name in last and not last[name]["done"] and "requeue_after" not in last[name] for name in names)

    def _ready(self) -> set[str]:
        time.sleep(0.1)
        found = self.plane.request("GET", _DRUIDS, user=_USER)["items"]
        return {each["metadata"]["name"] for each in found if _is_ready(each)}

    def _requests(self, mark: Mark) -> list[AuditEvent]:
        """Return the requests of the operator and its runs, without watches."""
        events = self.plane.audit.since(mark, self.account.username)
        return [each for each in events if each.verb != "watch" and each.resource != "leases"]

    def idle_share(self, seconds: float = IDLE_SECONDS) -> float:
        """Return the CPU time while nothing is to be done, in percent of one core."""
        begin, before = time.monotonic(), usage.cpu_seconds(self.program)
        time.sleep(seconds)
        return 100 * (usage.cpu_seconds(self.program) - before) / (time.monotonic() - begin)

    def busy(self, seconds: float = BUSY_SECONDS) -> dict[str, float]:
        """Return the reconciles per second, and the most memory, while all clusters are due all the time."""
        eventually(lambda: len(self.lines()) > 1)
        begin, before, memory = time.monotonic(), len(self.lines()), 0.0
        while time.monotonic() < begin + seconds:
            memory = max(memory, usage.memory_mib(self.program))
            time.sleep(1)
        return {"runs": (len(self.lines()) - before) / (time.monotonic() - begin), "memory": memory}

    def restored(self, names: Sequence[str]) -> dict[str, float]:
        """Return the medians of how long a deleted and an edited child of a cluster differ from the desired state."""
        chosen = [f"druid-{name}-group0" for name in names[:RESTORES]]
        deleted, edited = [], []
        for name in chosen:
            mark = self.plane.audit.mark()
            self.plane.request("DELETE", f"{_SERVICES}/{name}", user=_USER)
            deleted.append(self._seconds_to_write(mark, "services", name, "delete"))
            mark = self.plane.audit.mark()
            change = {"spec": {"maxUnavailable": 3}}
            self.plane.request("PATCH", f"{_BUDGETS}/{name}", change, user=_USER, content_type=_MERGE)
            edited.append(self._seconds_to_write(mark, "poddisruptionbudgets", name, "patch"))
        return {"deleted": median(deleted), "edited": median(edited)}

    def _seconds_to_write(self, mark: Mark, plural: str, name: str, verb: str) -> float:
        """Return the time between the change of the user and the operator's write, by the clock of the audit log."""

        def written() -> float | None:
            time.sleep(0.05)
            events = [each for each in self.plane.audit.since(mark) if (each.resource, each.name) == (plural, name)]
            changes = [each.received for each in events if (each.user, each.verb) == (_USER, verb)]
            writes = [each.received for each in events if each.user == self.account.username and _writes(each)]
            return writes[0] - changes[0] if writes else None

        return eventually(written, _LONGEST_SECONDS)

    def first_object_while_deleting(self, name: str) -> float:
        """Delete all clusters, create one in another namespace; return the time until its first object is written."""
        mark = self.plane.audit.mark()
        self.plane.request("DELETE", _DRUIDS, user=_USER)
        self.plane.request("POST", _OTHERS, resource(name, GROUPS, namespace=OTHER_NAMESPACE), user=_USER)

        def written() -> float | None:
            time.sleep(0.05)
            events = self.plane.audit.since(mark)
            (created,) = [each.received for each in events if (each.user, each.verb) == (_USER, "create")]
            writes = [each.received for each in events if each.name.startswith(f"{name}-") and _writes(each)]
            return writes[0] - created if writes else None

        seconds = eventually(written, _LONGEST_SECONDS)
        self.plane.request("DELETE", f"{_OTHERS}/{name}", user=_USER)
        eventually(lambda: not self._left(), _LONGEST_SECONDS)
        return seconds

    def long_period(self, name: str) -> str:
        """Return a period so long that nothing runs but what is measured, and that is no full reconcile."""
        return period_without_full_reconcile(self.plane.request("GET", f"{_DRUIDS}/{name}")["metadata"]["uid"])

    def _left(self) -> bool:
        time.sleep(0.5)
        return any(self.plane.request("GET", path, user=_USER)["items"] for path in (_DRUIDS, _OTHERS))

    def no_op(self, name: str, rounds: int, scratch: Path) -> Cost:
        """Return the median cost of a run for a cluster in the desired state, after one that does not count."""
        pid = self.program.pid
        assert pid
        variables = dict(each.split("=", 1) for each in Path(f"/proc/{pid}/environ").read_text().split("\0") if each)
        login = scratch / "run.kubeconfig"
        port = int(self.program.proxy_url.rpartition(":")[2])
        login.write_text(kubeconfig(owner_of(self.plane.request("GET", f"{_DRUIDS}/{name}", user=_USER)), port))
        variables |= {"KUBECONFIG": str(login), "K8S_AUTH_KUBECONFIG": str(login)}
        costs = [self._run_once(name, scratch, variables) for _round in range(rounds + 1)]
        return middle(costs[1:])

    def _run_once(self, name: str, scratch: Path, variables: Mapping[str, str]) -> Cost:
        """Return the cost of a run that is started as ansible-operator does."""
        original = INPUT / "druid.apache.org" / "v1alpha1" / "Druid" / NAMESPACE / name
        directory = scratch / original.relative_to(INPUT.parent)
        if not directory.exists():
            shutil.copytree(original, directory, ignore=shutil.ignore_patterns("artifacts"))
        ident = str(secrets.randbits(62))
        events = Events(ident)
        settings = {"runner_http_url": f"/tmp/ansibleoperator-{ident}", "runner_http_path": "/events/"}
        envvars = {each: variables[each] for each in ("KUBECONFIG", "K8S_AUTH_KUBECONFIG")}
        (directory / "env" / "settings").write_text(json.dumps(settings))
        (directory / "env" / "envvars").write_text(json.dumps(envvars))
        runner = shutil.which(RUNNER, path=variables["PATH"]) or RUNNER
        playbook = str(self.image.directory / "playbooks" / "operator_druid.yml")
        options = ["--rotate-artifacts", "6", "-p", playbook, "-i", ident]
        before = usage.run_cpu_seconds(self.program)
        cost = run(Program("a run", [runner, "run", str(directory), *options], variables))
        spent = usage.run_cpu_seconds(self.program) - before
        events.close()
        assert any(each["event"] == "playbook_on_stats" for each in events)
        return Cost(cost.wall, cost.cpu + spent)


def _is_ready(found: Mapping[str, Any]) -> bool:
    conditions = found.get("status", {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def _writes(event: AuditEvent) -> bool:
    return event.verb in ("create", "patch", "update") and not event.dry_run and event.code < 300


def _metrics(port: int) -> dict[str, str]:
    """Return the variables for the stand-in's port; that of the real program is fixed."""
    return (
        {} if real_program() else {METRICS_PORT: str(port), "DRUIDOPS_METRICS_URL": f"http://localhost:{port}/metrics"}
    )


@contextmanager
def started(
    plane: ControlPlane, image: Image, directory: Path, *, period: str = f"{PERIOD_SECONDS}s"
) -> Iterator[Measured]:
    """An operator for the namespace of the clusters that ends with the block."""
    directory.mkdir(parents=True)
    login = account(plane, NAMESPACE, directory)
    log = directory / "log"
    of_image = image.dockerfile.final.environment
    environment = {
        **{name: of_image[name] for name in _OF_IMAGE if name in of_image},
        "ANSIBLE_CONFIG": str(image.directory / "ansible.cfg"),
        "DRUIDOPS_KUBECONFIG": str(login.kubeconfig),
        "DRUIDOPS_LOG": str(log),
        "DRUIDOPS_PENDING_RUN": str(directory / "pending"),
        "RECONCILE_WAIT": period,
        DIRECTORY: str(directory / "warm"),
        "MAX_CONCURRENT_RECONCILES": WORKERS,
    }
    with ExitStack() as stack:
        stack.enter_context(only_one())
        probe_port, proxy_port, metrics_port = stack.enter_context(reserved_ports(3))
        setting = Setting(
            watches=image.watches(),
            kubeconfig=login.kubeconfig,
            programs=[image.directory / "bin", Path(os.environ["DRUIDOPS_OPERATOR"], "bin")],
            namespaces=[NAMESPACE, OTHER_NAMESPACE],
            environment={**environment, PROXY_PORT: str(proxy_port), **_metrics(metrics_port)},
            flags=[
                *(word for word in image.dockerfile.final.entrypoint if word.startswith(("--ansible", "--zap"))),
                f"--max-concurrent-reconciles={WORKERS}",
            ],
            is_recorded=False,
        )
        program = Operator(directory, setting, probe_port=probe_port, proxy_port=proxy_port)
        stack.enter_context(program)
        program.start()
        yield Measured(plane, program, login, log, image)
        shutil.rmtree(INPUT / "druid.apache.org" / "v1alpha1" / "Druid" / NAMESPACE, ignore_errors=True)
