# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures for tests that need a Druid: one for each way to run it, shared by all test processes of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from .cache import lock
from .druid.druid import Druid, DruidError
from .druid.versions import BASIC_SECURITY, DEFAULT, version

_OLDER = "27.0.0"
Share = Callable[[str, str], Druid]


@pytest.fixture(scope="session")
def share_druid(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Share:
    """Find the Druid of that release and configuration that this run shares, or start it."""
    is_worker = hasattr(pytestconfig, "workerinput")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if is_worker else base
    owner = os.getppid() if is_worker else os.getpid()

    def share(release: str, configuration: str) -> Druid:
        directory = shared / f"druid-{release}-{configuration}"
        with lock(directory):
            return Druid.find(directory) or _kept(directory, release, configuration, owner)

    return share


@pytest.fixture(scope="session")
def druid(share_druid: Share) -> Druid:
    """The running Druid in DRUIDOPS_DRUID, else one of the release DRUID for this run, open to all, with Kafka."""
    if directory := os.environ.get("DRUIDOPS_DRUID"):
        return _found(Path(directory))
    return share_druid(release(), "open")


@pytest.fixture(scope="session")
def druid_33(druid: Druid, share_druid: Share) -> Druid:
    """The release over which the differences of others are put; what runs anyhow, where it is that."""
    return druid if druid.version == DEFAULT else share_druid(DEFAULT, "open")


@pytest.fixture(scope="session")
def druid_27(share_druid: Share) -> Druid:
    """A Druid before skipRestartIfUnmodified, with SQL ingestion (MSQ), without Kafka."""
    return share_druid(_OLDER, "open")


@pytest.fixture(scope="session")
def druid_basic(share_druid: Share) -> Druid:
    """A Druid with basic security, which the default release cannot have everywhere."""
    return share_druid(release() if BASIC_SECURITY in version(release()).extensions else _OLDER, "basic")


@pytest.fixture(scope="session")
def druid_tls(share_druid: Share) -> Druid:
    """A Druid whose certificate is signed by a private authority."""
    return share_druid(release(), "tls")


@pytest.fixture(scope="session")
def druid_mutual_tls(share_druid: Share) -> Druid:
    """A Druid that also requires client certificates of that authority."""
    return share_druid(release(), "mutual-tls")


@pytest.fixture(scope="module")
def druid_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Druid]:
    """A Druid for the tests of one file, whose coordinator (the Overlord, too) and Kafka can be killed and revived."""
    with Druid.start(tmp_path_factory.mktemp("apart") / "druid", release(), jvms="apart") as started:
        yield started


@pytest.fixture(scope="module")
def druid_spread(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Druid]:
    """A Druid for the tests of one file, each of whose servers can be restarted, with two of most."""
    with Druid.start(tmp_path_factory.mktemp("spread") / "druid", release(), jvms="spread") as started:
        yield started


def release() -> str:
    """The release of Druid that the tests run on."""
    return os.environ.get("DRUID") or DEFAULT


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Name the directories with the logs where a test has failed."""
    report = yield
    if report.failed:
        arguments = getattr(item, "funcargs", {}).values()
        used = [each for each in arguments if isinstance(each, Druid)]
        report.sections += [(f"Druid {each.version} has its logs in", str(each.directory)) for each in used]
    return report


def _kept(directory: Path, release: str, configuration: str, owner: int) -> Druid:
    """A Druid that runs until the owner, the process that all test processes of the run belong to, has ended."""
    what = ["--dir", str(directory), "--version", release, "--configuration", configuration]
    command = [sys.executable, "-m", "testbed", "druid", "up", *what, "--while", str(owner)]
    up = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    druid = Druid.find(directory)
    if druid is None:
        raise DruidError(f"no Druid {release} ({configuration}) in {directory}: {up.stderr}")
    return druid


def _found(directory: Path) -> Druid:
    druid = Druid.find(directory)
    if druid is None:
        raise DruidError(f"no Druid runs in DRUIDOPS_DRUID={directory}")
    if (asked := os.environ.get("DRUID")) and druid.version != asked:
        raise DruidError(f"the one in {directory} is Druid {druid.version}, not {asked}")
    return druid
