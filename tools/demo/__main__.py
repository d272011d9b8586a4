# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Create a Druid cluster from one resource, with the commands that a user would run.

Usage: python -m tools.demo DIRECTORY SOURCES [COMMAND ...], where the command installs Ansible and copies the sources.
Variables:
DEMO_KUBECONFIG, DEMO_CONTEXT: the user's own cluster; without them it is a new one on this machine.
DEMO_NODES=simulated: its pods are no containers, as if the machine cannot run any.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.node.requirements import missing
from testbed.versions import DEFAULT

from .output import Shell, nothing, progress, say, table, title
from .preparation import Job, Preparation
from .suggestions import NAMESPACE, QUERY, Shown, suggestions

_CORE = Path(os.environ["DRUIDOPS_CORE_2_19"], "bin")
_KUBERNETES = os.environ.get("KUBERNETES", DEFAULT)
_SAMPLES = Path.cwd() / "config" / "samples"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Target:
    """A cluster of Kubernetes, what is created in it, and how long that may take in seconds."""

    kubeconfig: str
    context: str
    resource: Path
    timeout: int
    # the directory of the kubectl that the demo has built for it
    programs: Path | None = None
    # why the pods are no containers, if they are not
    simulated: str = ""

    @property
    def embedded(self) -> bool:
        """Whether the demo has started it."""
        return self.programs is not None

    @property
    def has_druid(self) -> bool:
        """Whether Druid answers at an address that can be reached from here."""
        return self.embedded and not self.simulated


def main() -> None:
    """Run the demo."""
    directory, sources, *install = sys.argv[1:]
    demo = Demo(Path(directory), Path(sources), install)
    demo.directory.mkdir(parents=True, exist_ok=True)
    demo.run()


class Demo:
    """One run."""

    def __init__(self, directory: Path, sources: Path, install: list[str]) -> None:
        self.directory, self._sources = directory, sources
        self._jobs = [Job("Ansible", 40, install)] if install else []
        self._log = directory / "demo.log"

    def run(self) -> None:
        """Show the cluster, and what to try next."""
        self._log.unlink(missing_ok=True)
        named = os.environ.get("DEMO_KUBECONFIG") or os.environ.get("DEMO_CONTEXT")
        target = self._named() if named else self._embedded()
        environment = self._environment(target)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("K8S_AUTH_")}
        shell = Shell({**inherited, **environment, "ANSIBLE_CALLBACK_RESULT_FORMAT": "json"}, self._log)
        self._install_collection(shell)
        shown = self._create(shell, target)
        self._write_environment(environment, shown)
        if target.simulated:
            say_what_is_simulated(target.simulated)
        title("What to try next")
        say("\n".join(suggestions(shown)))

    def _prepare(self, *jobs: Job) -> dict[str, str]:
        preparation = Preparation([*self._jobs, *jobs], self.directory, os.environ)
        preparation.run()
        if "Ansible" in preparation.failures:
            sys.exit(f"Ansible could not be installed: {preparation.failures['Ansible']}")
        return preparation.failures

    def _named(self) -> Target:
        self._prepare()
        shell = Shell(os.environ, self._log)
        kubeconfig, context, server = shell.read(_CORE / "python", "tools/demo/named_cluster.py").splitlines()
        title(f"Using your cluster: context {context} of {kubeconfig}, at {server}")
        return Target(kubeconfig, context, _SAMPLES / "small.yaml", 600)

    def _embedded(self) -> Target:
        if not shutil.which("go"):
            sys.exit(
                "The demo builds Kubernetes: install Go 1.26. Or use your own: make demo KUBECONFIG=... CONTEXT=..."
            )
        simulated = cannot_run_druid()
        title("Kubernetes on this machine" if simulated else "Kubernetes and Druid on this machine, in real containers")
        say("The first time, this is downloaded and built: 4 to 8 minutes on two cores, 6 GB of disk.")
        failures = self._prepare(*self._kubernetes(), *(() if simulated else self._druid()))
        if "Kubernetes" in failures:
            sys.exit(f"Kubernetes could not be built: {failures['Kubernetes']}")
        simulated = simulated or "; ".join(dict.fromkeys(failures.values()))
        return self._started(simulated)

    def _kubernetes(self) -> list[Job]:
        return [Job("Kubernetes", 210, prepare("--kubernetes", _KUBERNETES, "kubernetes"))]

    def _druid(self) -> list[Job]:
        return [
            # they share most packages, which are compiled once
            Job("kubelet and CoreDNS", 60, prepare("node"), ["Kubernetes"]),
            Job("Druid and ZooKeeper", 60, prepare("druid")),
            Job("images", 30, prepare("images"), ["Druid and ZooKeeper"]),
        ]

    def _started(self, simulated: str) -> Target:
        place = self.directory / "control-plane"
        shell = Shell({**os.environ, "PYTHONPATH": "tests"}, self._log)
        title("Starting Kubernetes")
        node = [] if simulated else ["--node"]
        shell.quietly(_CORE / "python", "-m", "testbed", "up", "--dir", place, "--kubernetes", _KUBERNETES, *node)
        program = "from testbed.clients import kubectl; print(kubectl().parent)"
        programs = Path(shell.read(_CORE / "python", "-c", program).strip())
        resource = _SAMPLES / ("druid.yaml" if simulated else "one-node.yaml")
        return Target(str(place / "person.kubeconfig"), "testbed", resource, 900, programs, simulated)

    def _environment(self, target: Target) -> dict[str, str]:
        path = [str(_CORE), *([str(target.programs)] if target.programs else []), os.environ["PATH"]]
        collections = (self.directory / "collections", os.environ["DRUIDOPS_KUBERNETES_CORE_NEWEST"])
        return {
            "PATH": os.pathsep.join(path),
            "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(map(str, collections)),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml",
            "KUBECONFIG": target.kubeconfig,
            "K8S_AUTH_KUBECONFIG": target.kubeconfig,
            "K8S_AUTH_CONTEXT": target.context,
        }

    def _install_collection(self, shell: Shell) -> None:
        """Install it from a copy of the sources, only if they have changed since the last demo."""
        marker, installed = self._sources.parents[2] / "changed", self.directory / "installed"
        state = str(marker.stat().st_mtime_ns) if marker.exists() else ""
        if state and installed.exists() and installed.read_text() == state:
            return
        options = ("--force", "--no-deps", "--offline", "-p", self.directory / "collections")
        shell.quietly(_CORE / "ansible-galaxy", "collection", "install", *options, self._sources)
        installed.write_text(state)

    def _create(self, shell: Shell, target: Target) -> Shown:
        name = name_of(target.resource)
        title("A namespace, the CRDs, and a Druid cluster from one resource")
        needs = ["-e", f"services={_SAMPLES}/one-node-services.yaml"] if target.has_druid else []
        shell.run("ansible-playbook", "tools/demo/namespace.yml", *needs, show=nothing)
        shell.run("ansible-playbook", "druidops.druid.install_crds", show=nothing)
        variables = {
            "resource": target.resource,
            "namespace": NAMESPACE,
            "wait": "true",
            "wait_timeout": target.timeout,
        }
        words = [word for key, value in variables.items() for word in ("-e", f"druid_cluster_{key}={value}")]
        shell.run("ansible-playbook", "druidops.druid.cluster", *words, show=progress(name))
        title("The resource, and its pods")
        kubectl = target.embedded or bool(shutil.which("kubectl"))
        if kubectl:
            shell.run("kubectl", "get", "druids,pods", "--namespace", NAMESPACE)
        else:
            shell.run("python", "tools/demo/columns.py", NAMESPACE)
        router = self._ask(shell, name) if target.has_druid else None
        return Shown(name, target.resource, self.directory, router, target.embedded, has_kubectl=kubectl)

    def _ask(self, shell: Shell, name: str) -> str:
        """Ingest rows, show the answer to a query, and return the address of the router."""
        title("Five rows, and a query")
        jsonpath = "jsonpath={.spec.clusterIP}:{.spec.ports[0].port}"
        service = shell.read(
            "kubectl", "get", "service", f"druid-{name}-routers", "--namespace", NAMESPACE, "-o", jsonpath
        )
        router = f"http://{service}"
        shell.run("ansible-playbook", "tools/demo/rows.yml", "-e", f"router={router}", show=nothing)
        rows = answer(router)
        say(f"\n  {QUERY}\n")
        say("\n".join(table(rows)))
        say(f"\nThe router of this Druid: {router}")
        return router

    def _write_environment(self, environment: dict[str, str], shown: Shown) -> None:
        """For the user to source in another shell, regardless of the cluster that is selected there."""
        lines = ['unset K8S_AUTH_CONTEXT $(env | grep -o "^K8S_AUTH_[A-Z_]*")']
        lines += [f"export {name}={shlex.quote(value)}" for name, value in environment.items() if name != "PATH"]
        own = environment["PATH"].removesuffix(os.environ["PATH"])
        lines.append(f'export PATH={shlex.quote(own)}"$PATH"')
        if shown.router:
            # no proxy for what is on this machine
            lines.append(f'export no_proxy="${{no_proxy:-}},{shown.router.split("/")[2].split(":")[0]}"')
        (self.directory / "environment").write_text("".join(f"{line}\n" for line in lines))


def prepare(*what: str) -> list[str]:
    """The command that makes something for the test bed."""
    return [sys.executable, "-m", "testbed.prepare", *what]


def cannot_run_druid() -> str:
    """What a person has to do so that Druid can run in containers here, empty if nothing."""
    if os.environ.get("DEMO_NODES") == "simulated":
        return "run `make demo` without NODES=simulated"
    if _KUBERNETES != DEFAULT:
        return f"run `make demo` without KUBERNETES={_KUBERNETES}"
    if sys.platform != "linux":
        return "run it on Linux as root, or on your own cluster: `make demo KUBECONFIG=... CONTEXT=...`"
    if os.geteuid() != 0:
        return 'run it as root: `sudo env PATH="$PATH" make demo`'
    if lacking := [name for name in ("java", "javac", "mvn") if not shutil.which(name)]:
        return f"install a JDK 17 or newer and Maven (there is no {', '.join(lacking)}), and run `make demo` again"
    lacking_programs = missing()
    return lacking_programs and f"{lacking_programs}, and `make demo` again"


def name_of(resource: Path) -> str:
    """The name in the metadata of a sample."""
    lines = resource.read_text().partition("\nmetadata:\n")[2].splitlines()
    return next(line.split()[1] for line in lines if line.startswith("  name: "))


def answer(router: str) -> Any:
    """The rows of the query, as soon as a Historical has them."""
    body = json.dumps({"query": QUERY}).encode()
    request = urllib.request.Request(f"{router}/druid/v2/sql", body, {"Content-Type": "application/json"})
    end = time.monotonic() + 120
    while True:
        try:
            with _DIRECT.open(request, timeout=30) as response:
                return json.load(response)
        except OSError as error:
            if time.monotonic() > end:
                sys.exit(f"Druid does not answer the query: {error}")
        time.sleep(1)


def say_what_is_simulated(remedy: str) -> None:
    """Say what was shown instead of a Druid, and the command that shows one."""
    title("What was simulated")
    say("The API server, the controllers and the scheduler are real. The nodes are simulated (kwok): pods become Ready")
    say("without a container, so no Druid ran, and kubectl logs, exec and port-forward do not work.")
    say(f"To see a real Druid, {remedy}.")


if __name__ == "__main__":
    main()
