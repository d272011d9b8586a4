# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts, finds and stops a Druid with its Kafka."""

from __future__ import annotations

import base64
import json
import os
import secrets
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from ..api import Api, ApiError
from ..directory import empty_directory
from ..ports import reserved_ports
from ..private_file import private
from ..proxy import Upstream
from ..running import DRUID, Running
from . import configurations
from .artifacts import Artifacts, build
from .certificates import make_certificates
from .jvm import JVMS, Jvm, command, write_arguments
from .kafka import Kafka
from .settings import PORTS, Layout, Passwords, properties, settings, type_of
from .versions import BASIC_SECURITY, DEFAULT, KAFKA, KNOWN, version

_PASSWORDS = "passwords.json"
_ADMINISTRATOR = "admin"
# A path of each server that returns 200 only if the server works.
_READY = {
    "coordinator": "/druid/indexer/v1/isLeader",
    "broker": "/druid/broker/v1/readiness",
    "indexer": "/status/selfDiscovered",
    "middleManager": "/status/selfDiscovered",
    "historical": "/druid/historical/v1/readiness",
    "router": "/status/selfDiscovered",
}
# Seconds for each server; a machine may be busy. Frequent polling would slow the start down.
_TIMEOUT = 180.0
_PAUSE = 0.2


class DruidError(RuntimeError):
    """A Druid could not be found, or lacks a required part."""


@dataclass(frozen=True)
class Credentials:
    """A user of basic security."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Choice:
    """What was started: enough to find it again."""

    version: str
    configuration: str
    kafka: bool
    jvms: str
    detached: bool
    ports: dict[str, int]


class Druid(Running):
    """A running Druid; leaving it as a context manager stops it."""

    STATE = DRUID

    def __init__(self, directory: Path, choice: Choice) -> None:
        super().__init__(directory)
        self.version = choice.version
        self.configuration = configurations.configuration(choice.configuration)
        self._layout = Layout(directory, choice.ports)
        self.url = self._url("router")
        # one server is both
        self.coordinator_url = self.overlord_url = self._url("coordinator")
        self.broker_url = self._url("broker")
        self.kafka = Kafka(self._layout.kafka) if choice.kafka else None
        self._choice = choice

    @classmethod
    def start(
        cls,
        directory: Path,
        release: str = DEFAULT,
        configuration: str = "open",
        *,
        kafka: bool | None = None,
        jvms: str = "together",
        detached: bool = False,
    ) -> Druid:
        """A new Druid, ready for use; unless detached it ends with this process, however that ends.

        Kafka comes with it, by default where the release has the extension for it. One JVM is all servers, or, with
        another name in jvm.JVMS, several are, each of which can be killed and started again.
        """
        secured = configurations.configuration(configuration)
        artifacts = build(version(release))
        extensions = {*version(release).extensions} - {*artifacts.missing}
        _require(release, extensions, [BASIC_SECURITY] * secured.basic_security + [KAFKA] * bool(kafka))
        with_kafka = KAFKA in extensions if kafka is None else kafka
        cls.remove(directory)
        with reserved_ports(len(PORTS)) as ports:
            named = dict(zip(PORTS, ports, strict=True))
            choice = Choice(release, configuration, with_kafka, jvms, detached, named)
            druid = cls(empty_directory(directory), choice)
            try:
                druid._prepare(artifacts)
                druid._start(druid._jvms())
                druid._hash_faster()
            except BaseException:
                druid._processes.kill()
                raise
        return druid

    @classmethod
    def _recorded(cls, directory: Path) -> Self | None:
        state = directory / cls.STATE
        return cls(directory, Choice(**json.loads(state.read_text()))) if state.exists() else None

    def _names(self) -> set[str]:
        return {jvm.name for jvm in self._jvms()}

    def kill(self, *jvms: str) -> None:
        """Kill JVMs of one that was started apart, such as coordinator or kafka, as a crash would."""
        self._processes.kill(*(jvm.name for jvm in self._chosen(jvms)))

    def revive(self, *jvms: str) -> None:
        """Start JVMs again that were killed, with the same ports and data, and return when they are ready."""
        self._start(self._chosen(jvms))

    def restart(self, jvm: str) -> None:
        """Stop a JVM as systemd does, and start it again; it is not ready when this returns."""
        self._processes.terminate(jvm)
        for each in self._chosen([jvm]):
            self._processes.start(each.name, command(each, self._layout), detached=self._choice.detached)

    def address(self, server: str) -> str:
        """Host and port by which Druid names a server."""
        return f"127.0.0.1:{self._layout.ports[server]}"

    @contextmanager
    def frozen(self, *jvms: str) -> Iterator[None]:
        """Pause JVMs: they accept connections, and do not respond."""
        names = {jvm.name for jvm in self._chosen(jvms)}
        processes = [process for process in self._processes.running() if process.name in names]
        for process in processes:
            os.kill(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                os.kill(process.pid, signal.SIGCONT)

    @property
    def ca_file(self) -> Path | None:
        """The certificate of the authority that has signed the servers' one, with TLS."""
        return self._layout.certificates.authority if self.configuration.tls else None

    @property
    def client_certificate(self) -> tuple[Path, Path] | None:
        """Certificate and key of a client, if the servers ask for one."""
        certificates = self._layout.certificates
        asked = self.configuration.client_certificate
        return (certificates.client_certificate, certificates.client_key) if asked else None

    @property
    def upstream(self) -> Upstream:
        """The router, for a proxy in front of it."""
        return Upstream(self.url, self.ca_file, self.client_certificate)

    @property
    def credentials(self) -> Credentials | None:
        """The administrator, if the servers ask who is there."""
        if not self.configuration.basic_security:
            return None
        return Credentials(_ADMINISTRATOR, self._passwords().admin)

    def request(self, method: str, path: str, body: Any = None, *, server: str = "router") -> Any:
        """The decoded response of a server to the administrator; an ApiError if it is an error."""
        authorization = None
        if user := self.credentials:
            pair = f"{user.username}:{user.password}".encode()
            authorization = f"Basic {base64.b64encode(pair).decode()}"
        api = Api(
            self._url(server),
            authority=self.ca_file,
            authorization=authorization,
            certificate=self.client_certificate,
        )
        return api.request(method, path, body)

    def remove_datasource(self, datasource: str) -> None:
        """
        Shut down the tasks of a datasource, and mark its segments unused.

        A task that had only just begun when its supervisor was terminated is not notified: it keeps running, with its
        slot, and uses a whole processor once its topic is deleted. Segments that no server loads (their rules name a
        tier that there is not, or newer ones overshadow them) would keep Druid from being ready.
        """
        for task in self.request("GET", f"/druid/indexer/v1/tasks?state=running&datasource={quote(datasource)}"):
            self.request("POST", f"/druid/indexer/v1/task/{quote(task['id'])}/shutdown")
        self.request("DELETE", f"/druid/coordinator/v1/datasources/{quote(datasource)}")

    def query(self, sql: str) -> list[dict[str, Any]]:
        """The rows that a query by SQL finds."""
        rows: list[dict[str, Any]] = self.request("POST", "/druid/v2/sql", {"query": sql})
        return rows

    def describe(self) -> Iterator[str]:
        """Lines for a user: version, address, processes."""
        yield f"Druid {self.version} ({self.configuration.name}) at {self.url}"
        if self.kafka:
            yield f"Kafka at {self.kafka.address}"
        if self.ca_file:
            yield f"CA: {self.ca_file}"
        if self.credentials:
            yield f"user {self.credentials.username}, password in {self._layout.directory / _PASSWORDS}"
        for process in self._processes.running():
            yield f"{process.name}: pid {process.pid}"

    def _url(self, server: str) -> str:
        return f"{self.configuration.scheme}://127.0.0.1:{self._layout.ports[server]}"

    def _jvms(self) -> list[Jvm]:
        left_out = () if self._choice.kafka else ("kafka",)
        jvms = JVMS[self._choice.jvms]
        fewer = [replace(jvm, servers=tuple(each for each in jvm.servers if each not in left_out)) for jvm in jvms]
        return [jvm for jvm in fewer if jvm.servers]

    def _chosen(self, names: Iterable[str]) -> list[Jvm]:
        jvms = {jvm.name: jvm for jvm in self._jvms()}
        for name in names:
            if name not in jvms:
                raise DruidError(f"there is no JVM {name} here, only {', '.join(jvms)}; start Druid with other jvms")
        return [jvms[name] for name in names]

    def _passwords(self) -> Passwords:
        return Passwords(**json.loads((self._layout.directory / _PASSWORDS).read_text()))

    def _prepare(self, artifacts: Artifacts) -> None:
        layout = self._layout
        (layout.directory / self.STATE).write_text(json.dumps(asdict(self._choice)))
        (layout.directory / "tmp").mkdir()
        passwords = Passwords(*(secrets.token_urlsafe(18) for _password in range(3)))
        private(layout.directory / _PASSWORDS).write_text(json.dumps(asdict(passwords)))
        if self.configuration.tls:
            make_certificates(layout.certificates, passwords.stores)
        for server, values in settings(layout, self.configuration, passwords).items():
            private(layout.settings_of(server)).write_text(properties(values))
        for jvm in self._jvms():
            write_arguments(jvm, layout, artifacts, passwords.stores if self.configuration.tls else None)

    def _start(self, jvms: Iterable[Jvm]) -> None:
        for jvm in jvms:
            self._processes.start(jvm.name, command(jvm, self._layout), detached=self._choice.detached)
            for server in jvm.servers:
                self._wait_for(server)

    def _wait_for(self, server: str) -> None:
        wait = partial(self._processes.wait_for, not_yet=(ApiError, OSError), timeout=_TIMEOUT, pause=_PAUSE)
        if server == "kafka":
            wait("a Kafka that answers", Kafka(self._layout.kafka).answers)
        elif path := _READY.get(type_of(server)):
            wait(f"a {server} that is ready", partial(self._answers, server, path))

    def _hash_faster(self) -> None:
        """Each server hashes the password of each request, with 10,000 iterations by default: a third of a second."""
        if self.configuration.basic_security:
            passwords = self._passwords()
            users = "/druid-ext/basic-security/authentication/db/basic/users"
            for user, password in ((_ADMINISTRATOR, passwords.admin), ("druid_system", passwords.internal)):
                body = {"password": password, "iterations": 100}
                self.request("POST", f"{users}/{user}/credentials", body, server="coordinator")

    def _answers(self, server: str, path: str) -> bool:
        self.request("GET", path, server=server)
        return True


def _require(release: str, extensions: set[str], names: Iterable[str]) -> None:
    for name in names:
        if name not in extensions:
            having = [each.release for each in KNOWN.values() if name in each.extensions]
            raise DruidError(f"Druid {release} has no {name} here; choose a version that has it: {', '.join(having)}")
