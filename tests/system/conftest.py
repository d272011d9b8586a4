# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures of the system tests: a control plane, a namespace in it, and ansible-playbook with the installed tarball."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import EACH_CORE
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import FaultProxy, fault_proxy
from ansible_collections.druidops.druid.tests.system.support.go_operator import recorded_namespace
from ansible_collections.druidops.druid.tests.system.support.image import lay_out, make_removable
from ansible_collections.druidops.druid.tests.system.support.in_process import good, one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from testbed.control_plane import ControlPlane
from testbed.druid_plugin import (
    druid,
    druid_27,
    druid_apart,
    druid_basic,
    druid_mutual_tls,
    druid_tls,
    pytest_runtest_makereport,
    share_druid,
)
from testbed.operator_plugin import operator, pytest_report_header
from testbed.pytest_plugin import control_plane, namespace

__all__ = [
    "control_plane",
    "druid",
    "druid_27",
    "druid_apart",
    "druid_basic",
    "druid_mutual_tls",
    "druid_tls",
    "namespace",
    "operator",
    "pytest_report_header",
    "pytest_runtest_makereport",
    "share_druid",
]


SECONDS_PER_LINE = 30


@pytest.fixture
def live(control_plane: ControlPlane, namespace: str) -> NamespaceClient:
    """What is in a new namespace."""
    return NamespaceClient(control_plane, namespace)


@pytest.fixture(scope="module")
def proxy(control_plane: ControlPlane) -> Iterator[FaultProxy]:
    """A proxy in front of the API server."""
    with fault_proxy(control_plane) as proxy:
        yield proxy


@pytest.fixture
def created(live: NamespaceClient) -> dict[str, Any]:
    """The result of an undisturbed creation of the small cluster."""
    live.create(small_cluster.resource("model"))
    good(one_pass(live, "model"))
    return small_cluster.picture(live, "model")


@pytest.fixture
def golden(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    """The namespace of the Go operator's recordings, empty."""
    with recorded_namespace(control_plane) as live:
        yield live


@pytest.fixture(scope="session")
def image_layout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the operator's image has in /opt/ansible."""
    directory = lay_out(tmp_path_factory.mktemp("image") / "ansible")
    yield directory
    make_removable(directory)


@pytest.fixture
def ansible(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Ansible:
    """The newest ansible-core, whose tasks connect to the control plane as the user druidops, in the namespace."""
    return Ansible(CORES["2.19"], control_plane, namespace, tmp_path)


@pytest.fixture(params=EACH_CORE)
def each_ansible(
    control_plane: ControlPlane, namespace: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Ansible:
    """The oldest and the newest ansible-core, each with its kubernetes.core."""
    return Ansible(CORES[request.param], control_plane, namespace, tmp_path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the tests that need a Druid run last: five that wait for the end of a run take a quarter of a processor.

    Of these the groups come first, since one process has to run a whole one. --no-loadscope-reorder keeps it so.
    """
    items.sort(key=lambda item: (_needs_druid(item), _needs_druid(item) and not item.get_closest_marker("xdist_group")))


def _needs_druid(item: pytest.Item) -> bool:
    return not {"druid_apart", "share_druid"}.isdisjoint(getattr(item, "fixturenames", ()))


class Lines:
    """Prints a line each half minute: where output is shown by lines, that of dots takes minutes."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter
        self._tests = 0
        self._begin = self._last = time.monotonic()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print how many tests have ended."""
        self._tests += report.when == "teardown"
        if time.monotonic() - self._last > SECONDS_PER_LINE:
            self._last = time.monotonic()
            self._reporter.write_line(f" {self._tests} tests after {self._last - self._begin:.0f} s")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print lines where tests run in several processes, in the one that prints."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and session.config.getoption("numprocesses", None):
        session.config.pluginmanager.register(Lines(reporter))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have counted; what they print themselves is lost in parallel runs."""
    properties = [each for report in terminalreporter.getreports("passed") for each in report.user_properties]
    measured = [str(text) for name, text in properties if name == "measurement"]
    if measured:
        terminalreporter.section("measured by the tests")
    for text in measured:
        terminalreporter.write_line(text)
