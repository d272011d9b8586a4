# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Modules on Druid's API, run by ansible-playbook from the installed tarball, with every request counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.request import is_read
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible, Run
from testbed.druid.druid import Druid
from testbed.proxy import Upstream
from testbed.recording_proxy import Exchange, RecordingProxy, recording_proxy

_STEP = re.compile(r"/step/(\d+)")


@dataclass(frozen=True)
class Step:
    """A task of a play: its result, and its requests to Druid."""

    result: dict[str, Any]
    printed: str
    exchanges: list[Exchange]

    @property
    def changed(self) -> bool:
        return bool(self.result["changed"])

    @property
    def writes(self) -> list[str]:
        """The write requests, such as ``POST /druid/indexer/v1/task``; queries of SQL and of used segments are none."""
        writes = (each for each in self.exchanges if not is_read(each.method, each.path))
        return [f"{each.method} {each.path}" for each in writes]

    def check(self, *, check_mode: bool) -> None:
        """``changed`` is true exactly if a write was sent, and in check mode none is; a failure may have sent some."""
        if not self.result.get("failed"):
            assert bool(self.writes) == (self.changed and not check_mode), (self.changed, self.writes)

    @property
    def differing(self) -> list[str]:
        """The lines of the printed diff that are not the same before and after."""
        return re.findall(r"^[-+](?!-- |\+\+ ).*$", self.printed, re.MULTILINE)


@dataclass(frozen=True)
class Modules:
    """Runs modules of this collection against one Druid, through a proxy that counts."""

    druid: Druid
    proxy: RecordingProxy
    ansible: Ansible

    def run(self, *tasks: Mapping[str, Any], status: int = 0, options: tuple[str, ...] = ()) -> list[Step]:
        """Run tasks one after the other; a failure stops them unless a task has ``ignore_errors``."""
        self.proxy.clear()
        play = [each for number, task in enumerate(tasks) for each in (self._marker(number), dict(task))]
        run = self.ansible.tasks(
            *play, options=("-v", *options), status=status, environment=self.environment, module_defaults=self.defaults
        )
        # a play begins before its first task, and every second one of our tasks is a marker
        sections = re.split(r"^TASK \[", run.output, flags=re.MULTILINE)[1:][1::2]
        steps = [
            Step(Run(run.status, section).results[0], section, exchanges)
            for section, exchanges in zip(sections, self._exchanges(len(tasks)), strict=False)
        ]
        assert len(steps) == len(tasks) or status, run.output
        for task, step in zip(tasks, steps, strict=False):
            step.check(check_mode="--check" in options or bool(task.get("check_mode")))
        return steps

    def module(self, name: str, *options: str, status: int = 0, **arguments: Any) -> Step:
        """Run one module."""
        return self.run({f"druidops.druid.{name}": arguments}, options=options, status=status)[0]

    def printed(self, name: str, *options: str, **arguments: Any) -> Run:
        """Run one module as a user does, and return the output."""
        return self.ansible.tasks(
            {f"druidops.druid.{name}": arguments},
            options=options,
            environment=self.environment,
            module_defaults=self.defaults,
        )

    @property
    def environment(self) -> dict[str, str]:
        """The address and the credentials, as the modules read them."""
        credentials = self.druid.credentials
        login = {"DRUID_USERNAME": credentials.username, "DRUID_PASSWORD": credentials.password} if credentials else {}
        return {"DRUID_URL": self.proxy.url, **login}

    @property
    def defaults(self) -> dict[str, Any]:
        """What makes tests quick."""
        return {"group/druidops.druid.druid": {"retry_timeout": 20}}

    def _marker(self, number: int) -> dict[str, Any]:
        """A request that separates the exchanges of two tasks."""
        return {"ansible.builtin.uri": {"url": f"{self.proxy.url}/step/{number}", "status_code": [200, 401, 404]}}

    def _exchanges(self, tasks: int) -> list[list[Exchange]]:
        """Return the requests of each task to Druid."""
        exchanges: list[list[Exchange]] = [[] for _task in range(tasks)]
        current = exchanges[0]
        for exchange in self.proxy.exchanges:
            if match := _STEP.fullmatch(exchange.path):
                current = exchanges[int(match[1])]
            else:
                current.append(exchange)
        return exchanges


@contextmanager
def modules_on(
    druid: Druid, directory: Path, core: str = "2.19", upstream: Upstream | None = None
) -> Iterator[Modules]:
    """The modules on this Druid, with one of the ansible-cores; ``upstream``: the server before it."""
    with recording_proxy(upstream or druid.upstream) as proxy:
        yield Modules(druid, proxy, Ansible(CORES[core], None, "", directory))
