# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator as the image runs it: its files, its environment and its command, read-only but for /tmp."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.operator_account import account
from testbed.api import Api, ApiError
from testbed.container import Container
from testbed.dockerfile import Dockerfile
from testbed.operator import resident
from testbed.operator.descendants import kill_with_descendants
from testbed.operator.started import METRICS_PORT, PROXY_PORT, only_one, real_program
from testbed.ports import reserved_ports

COLLECTION = Path(__file__).parents[3]
DOCKERFILE = Dockerfile.read(COLLECTION / "build" / "Dockerfile")
IMAGE = Path("/opt/ansible")
VIRTUAL = Path(os.environ["DRUIDOPS_OPERATOR"])
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TEST_BED = Path("/opt/test-bed")
CGROUP = Path("/sys/fs/cgroup")
_TIMEOUT = 180

_STAND_IN = """\
#!{python}
import sys

sys.path.insert(0, "{tests}")
from testbed.operator.program import main

sys.exit(main())
"""


def lay_out(directory: Path) -> Path:
    """Make what the image has in /opt/ansible, from the checkout; return the directory."""
    command = [sys.executable, "-m", "tools.ci.image_layout", directory, VIRTUAL]
    # the image has its bytecode beside the files
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": ""}
    command.append(os.environ["DRUIDOPS_KUBERNETES_CORE_NEWEST"])
    subprocess.run(command, env=environment, check=True, cwd=COLLECTION)
    return directory


def make_removable(layout: Path) -> None:
    """Let its owner write in it again."""
    subprocess.run(["chmod", "-R", "u+w", layout], check=True)


def container(layout: Path, directory: Path, environment: Mapping[str, str], more: Mapping[Path, Path]) -> Container:
    """The image's container, with more mounts; the virtual environment takes the place of the base image's packages."""
    of_image = DOCKERFILE.final.environment
    (user,) = {int(text) for text in DOCKERFILE.final.all("USER")[-1:]}
    python = Path(sys.base_prefix)
    shown = {IMAGE: layout, **{path: path for path in (VIRTUAL, python, Path(sys.prefix), COLLECTION / "tests")}}
    own, _colon, others = of_image["PATH"].partition(":")
    return Container(
        root=directory / "root",
        tmp=directory / "tmp",
        directory=Path(DOCKERFILE.final.all("WORKDIR")[-1]),
        shown={
            **shown,
            COLLECTION / "tests": COLLECTION / "tests",
            **{Path(each): path for each, path in more.items()},
        },
        user=user,
        environment={**of_image, "PATH": f"{own}:{VIRTUAL}/bin:{others}", **environment},
    )


@dataclass
class ImageOperator:
    """An operator that runs in a container, for one namespace."""

    live: NamespaceClient
    process: subprocess.Popen[bytes]
    log: Path
    where: Container
    probe_port: int

    @property
    def tmp(self) -> Path:
        """What is /tmp to it."""
        return self.where.tmp

    def probe(self) -> tuple[int, str]:
        """Ask the pod's readiness probe; the exit status, and the message for the event."""
        program, _port = _manager()["readinessProbe"]["exec"]["command"]
        root = self.where.root.with_name("probe")
        command = replace(self.where, root=root).command([program, str(self.probe_port)])
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        return done.returncode, done.stderr

    @property
    def artifacts(self) -> list[Path]:
        """What ansible-runner has left of the runs that are kept, a directory for each."""
        found = self.tmp.glob(f"ansible-operator/runner/*/*/*/{self.live.namespace}/*/artifacts/*")
        return sorted(each for each in found if not each.is_symlink())

    @property
    def ended(self) -> dict[Path, str]:
        """The exit status of each run that has ended; ansible-runner makes the file first, and writes it then."""
        found = {run: _text(run / "rc") for run in self.artifacts}
        return {run: status for run, status in found.items() if status}

    def wait_until_ready(self, name: str) -> None:
        """Wait until the resource is ready."""
        eventually(lambda: self._runs() and self._is_ready(name))

    def _runs(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        return True

    def _is_ready(self, name: str) -> bool:
        resource = self.live.get("Druid", name)
        if "conditions" not in resource["status"]:
            return False
        ready = condition(resource, "Ready")
        return ready["status"] == "True" or ready["reason"] == "NoPods"

    def wait_until_settled(self, name: str) -> None:
        """Wait until the resource is ready, a reconcile has found nothing to do, and no run is in progress."""
        self.wait_until_ready(name)
        eventually(lambda: self._runs() and self._is_settled(name))

    def _is_settled(self, name: str) -> bool:
        lines = [line for line in self.lines() if line.get("name") == name]
        nothing_left = bool(lines) and not lines[-1]["done"]
        own = {run for run in self.artifacts if run.parent.parent.name == name}
        return nothing_left and own <= self.ended.keys()

    def lines(self) -> list[dict[str, Any]]:
        """The lines of its own log."""
        file = self.tmp / "log"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def stop(self) -> int:
        """Ask it to end, as Kubernetes does; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(2 * _TIMEOUT)


def _manager() -> dict[str, Any]:
    """Return the operator's container, as config/manager has it."""
    text = (COLLECTION / "config" / "manager" / "manager.yaml").read_text(encoding="utf-8")
    _namespace, deployment = yaml.safe_load_all(text)
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return dict(container)


def _cgroup(directory: Path) -> Path:
    """Make what the kernel shows of the container's limits; the directory."""
    limit = _manager()["resources"]["limits"]["memory"]
    shown = directory / "cgroup"
    shown.mkdir()
    (shown / "memory.max").write_text(f"{int(limit.removesuffix('Mi')) << 20}\n")
    return shown


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except FileNotFoundError:
        return ""


@contextmanager
def started(
    layout: Path, live: NamespaceClient, directory: Path, additional_flags: Sequence[str] = (), **environment: str
) -> Iterator[ImageOperator]:
    """An operator that is ready; for itself it runs in the cluster."""
    log_file = directory / "operator.log"
    with only_one(), reserved_ports(3) as (probe_port, proxy_port, metrics_port), log_file.open("wb") as log:
        variables = {
            **_in_cluster(live, directory),
            PROXY_PORT: str(proxy_port),
            **_metrics(metrics_port),
            "WATCH_NAMESPACE": live.namespace,
            # the container has no first process, whose standard output would be the log
            "DRUIDOPS_LOG": "/tmp/log",
            **resident.variables(Path("/tmp/warm-runner")),
            **environment,
        }
        shown = {ACCOUNT: directory / "account", TEST_BED: directory / "test-bed", CGROUP: _cgroup(directory)}
        where = container(layout, directory, variables, shown)
        flags = [
            f"--health-probe-bind-address=127.0.0.1:{probe_port}",
            "--metrics-bind-address=0",
            # runs take longer while other tests run
            f"--graceful-shutdown-timeout={_TIMEOUT}s",
            *additional_flags,
        ]
        # without tini, which this machine need not have
        _tini, _dashes, start, _program, *words = DOCKERFILE.final.entrypoint
        command = where.command([start, str(TEST_BED / "ansible-operator"), *words, *flags])
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
        running = ImageOperator(live, process, log_file, where, probe_port)
        try:
            eventually(lambda: running._runs() and _is_ready(f"http://127.0.0.1:{probe_port}"))
            yield running
        finally:
            if process.poll() is None:
                kill_with_descendants(process.pid)
                process.wait()


def _metrics(port: int) -> dict[str, str]:
    """Return the variables for another port of the stand-in; that of the real program is fixed."""
    return (
        {} if real_program() else {METRICS_PORT: str(port), "DRUIDOPS_METRICS_URL": f"http://localhost:{port}/metrics"}
    )


def _is_ready(url: str) -> bool:
    try:
        return Api(url).request("GET", "/readyz", timeout=2) is not None
    except (ApiError, OSError):
        return False


def _in_cluster(live: NamespaceClient, directory: Path) -> dict[str, str]:
    """Write what a pod has of its ServiceAccount, and the program with a kubeconfig of the same; the variables."""
    kubeconfig = account(live.plane, live.namespace, directory).kubeconfig
    content = json.loads(kubeconfig.read_text())
    cluster, user = content["clusters"][0]["cluster"], content["users"][0]["user"]
    (directory / "account").mkdir()
    (directory / "account" / "token").write_text(user["token"])
    (directory / "account" / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    (directory / "account" / "namespace").write_text(live.namespace)
    bed = directory / "test-bed"
    bed.mkdir()
    shutil.copy(kubeconfig, bed / "kubeconfig")
    (bed / "kubeconfig").chmod(0o644)
    program = bed / "ansible-operator"
    if real := real_program():
        shutil.copy(real, program)
    else:
        program.write_text(_STAND_IN.format(python=sys.executable, tests=COLLECTION / "tests"))
    program.chmod(0o755)
    host, _colon, port = cluster["server"].removeprefix("https://").partition(":")
    return {
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": port,
        "KUBECONFIG": str(TEST_BED / "kubeconfig"),
    }
