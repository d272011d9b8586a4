# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts, finds and stops a control plane."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Self

from . import components
from .api import Api, ApiError
from .audit import Audit
from .build import Programs, build
from .components import Layout
from .directory import empty_directory
from .node.node import NODE_PROCESSES, Node, connected, prepare
from .objects import NODES, initial_objects
from .ports import reserved_ports
from .running import CONTROL_PLANE, Running
from .users import USERS, read_tokens, write_kubeconfig, write_tokens
from .versions import DEFAULT, Version, version

_Start = Callable[[str, list[str]], None]
_API_SERVER = "kube-apiserver"
_COMPONENTS = {"etcd", _API_SERVER, "kube-controller-manager", "kube-scheduler", "kwok"}
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class ControlPlaneError(RuntimeError):
    """A control plane could not be found, or lacks a required part."""


class ControlPlane(Running):
    """A running control plane; leaving it as a context manager stops it."""

    STATE = CONTROL_PLANE

    def __init__(self, layout: Layout, kubernetes: Version) -> None:
        super().__init__(layout.directory)
        self.kubernetes = kubernetes
        self.url = layout.url
        # For objects that the API server itself would reject.
        self.etcd_url = layout.etcd_url
        self.ca_file = layout.authority
        self.has_node = layout.has_node
        self.audit = Audit(layout.audit_log)
        self._layout = layout

    @classmethod
    def start(
        cls,
        directory: Path,
        kubernetes: str = DEFAULT,
        crds: Iterable[Path] = (),
        *,
        detached: bool = False,
        apiserver_arguments: Sequence[str] = (),
        node: bool = False,
    ) -> ControlPlane:
        """
        A new control plane, ready for use; unless detached it ends with this process, however that ends.

        node: with a real node beside the simulated ones.
        """
        chosen = version(kubernetes)
        if node and chosen != version():
            raise ControlPlaneError(f"a real node requires Kubernetes {DEFAULT}, the version of its kubelet")
        programs, prepared = build(chosen), prepare() if node else None
        cls.remove(directory)
        with reserved_ports(4) as ports:
            layout = Layout(empty_directory(directory), *ports)
            plane = cls(connected(layout) if node else layout, chosen)
            try:
                plane._prepare(programs)
                start = partial(plane._processes.start, detached=detached)
                plane._start_etcd(start, programs)
                plane._start_api_server(start, programs, apiserver_arguments)
                # the garbage collector of a controller manager that is started later knows them at once, not after 30 s
                plane._install(crds)
                plane._start_controllers(start, programs)
                if prepared:
                    Node(plane._layout, prepared, plane._processes).start(start)
                plane._populate()
            except BaseException:
                Running.stop(plane)
                raise
        return plane

    @classmethod
    def _recorded(cls, directory: Path) -> Self | None:
        state = directory / cls.STATE
        if not state.exists():
            return None
        content = json.loads(state.read_text())
        return cls(Layout(directory, **content["ports"]), version(content["kubernetes"]))

    def _names(self) -> set[str]:
        return _COMPONENTS | (NODE_PROCESSES if self._layout.has_node else set())

    @contextmanager
    def without_api_server(self, arguments: Sequence[str] = ()) -> Iterator[None]:
        """Kill the API server, as a crash would, and afterwards start it again with the same port and data."""
        self._processes.kill(_API_SERVER)
        yield
        self._start_api_server(partial(self._processes.start, detached=False), build(self.kubernetes), arguments)

    @contextmanager
    def with_hung_api_server(self) -> Iterator[None]:
        """Stop the API server (SIGSTOP): it accepts connections and does not respond. Continue it afterwards."""
        (process,) = (each for each in self._processes.running() if each.name == _API_SERVER)
        os.kill(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process.pid, signal.SIGCONT)

    def stop(self) -> None:
        """Kill every component and drop the data."""
        super().stop()
        for name in ("etcd", "node"):
            shutil.rmtree(self._layout.directory / name, ignore_errors=True)

    def kubeconfig(self, user: str = "admin") -> Path:
        """The kubeconfig of one of the users in users.py."""
        path = self._layout.kubeconfig(user)
        if not path.exists():
            raise ControlPlaneError(f"no user {user}; there are {', '.join(each.name for each in USERS)}")
        return path

    def token(self, user: str = "admin") -> str:
        """The bearer token of a user."""
        return read_tokens(self._layout.tokens)[user]

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        user: str = "admin",
        content_type: str = "application/json",
    ) -> Any:
        """The API server's decoded response to this user; an ApiError if it rejects."""
        return self._api(user).request(method, path, body, content_type=content_type)

    def _api(self, user: str) -> Api:
        return Api(self.url, authority=self.ca_file, authorization=f"Bearer {self.token(user)}")

    def describe(self) -> Iterator[str]:
        """Lines for a user: version, address, components."""
        yield f"Kubernetes {self.kubernetes.release} at {self.url}"
        yield f"kubeconfig: {self.kubeconfig()}"
        for process in self._processes.running():
            yield f"{process.name}: pid {process.pid}"

    def _prepare(self, programs: Programs) -> None:
        layout = self._layout
        ports = {name: value for name, value in asdict(layout).items() if name != "directory"}
        state = {"kubernetes": self.kubernetes.minor, "ports": ports}
        (layout.directory / self.STATE).write_text(json.dumps(state))
        layout.audit_log.touch()
        subprocess.run(components.certificates(programs, layout), check=True)
        write_tokens(layout.tokens)
        for user, token in read_tokens(layout.tokens).items():
            write_kubeconfig(layout.kubeconfig(user), layout.url, layout.authority.read_bytes(), user, token)
        stages = (Path(__file__).parent / "stages.yaml").read_text()
        layout.stages.write_text(stages.replace("KUBERNETES_RELEASE", self.kubernetes.release))

    def _start_etcd(self, start: _Start, programs: Programs) -> None:
        start("etcd", components.etcd(programs, self._layout))
        # an API server whose first connection fails waits a second before its next
        self._wait("a healthy etcd", lambda: _healthy(self._layout.etcd_url))

    def _start_api_server(self, start: _Start, programs: Programs, extra: Sequence[str] = ()) -> None:
        start(_API_SERVER, components.apiserver(programs, self._layout, extra))
        self._wait("a ready API server", lambda: self.request("GET", "/readyz") == "ok")

    def _start_controllers(self, start: _Start, programs: Programs) -> None:
        start("kube-controller-manager", components.controller_manager(programs, self._layout))
        start("kube-scheduler", components.scheduler(programs, self._layout))
        start("kwok", components.kwok(programs, self._layout))

    def _populate(self) -> None:
        for path, body in initial_objects(real_node=self._layout.has_node):
            self.request("POST", path, body)
        self._wait("ready nodes", self._nodes_ready)
        self._wait("the default service account", self._service_account_exists)

    def _install(self, crds: Iterable[Path]) -> None:
        documents = [document for file in crds for document in file.read_text().split("\n---")]
        names = [
            self.request("POST", _CRDS, document, content_type="application/yaml")["metadata"]["name"]
            for document in documents
            if "kind: CustomResourceDefinition" in document
        ]
        for name in names:
            self._wait(f"the CRD {name}", partial(self._serves, name))

    def _serves(self, name: str) -> bool:
        """True if resources can be listed: the storage of an established CRD may not be initialized yet (429)."""
        definition = self.request("GET", f"{_CRDS}/{name}")
        if not _has(definition, "Established"):
            return False
        spec = definition["spec"]
        self.request("GET", f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}")
        return True

    def _nodes_ready(self) -> bool:
        nodes = self.request("GET", "/api/v1/nodes")["items"]
        return len(nodes) == len(NODES) + self._layout.has_node and all(
            _has(node, "Ready") and not _not_ready(node) for node in nodes
        )

    def _service_account_exists(self) -> bool:
        return bool(self.request("GET", "/api/v1/namespaces/default/serviceaccounts/default"))

    def _wait(self, what: str, condition: Callable[[], bool]) -> None:
        self._processes.wait_for(what, condition, not_yet=(ApiError, OSError))


@contextmanager
def control_plane(
    kubernetes: str = DEFAULT, crds: Iterable[Path] = (), apiserver_arguments: Sequence[str] = ()
) -> Iterator[ControlPlane]:
    """A control plane in a temporary directory."""
    with (
        tempfile.TemporaryDirectory(prefix="testbed-") as directory,
        ControlPlane.start(Path(directory), kubernetes, crds, apiserver_arguments=apiserver_arguments) as plane,
    ):
        yield plane


def _healthy(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{url}/health", timeout=1) as response:
        return b"true" in response.read()


def _not_ready(node: dict[str, Any]) -> bool:
    return any(taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints") or [])


def _has(resource: dict[str, Any], condition: str) -> bool:
    conditions = resource.get("status", {}).get("conditions") or []
    return any(each["type"] == condition and each["status"] == "True" for each in conditions)
