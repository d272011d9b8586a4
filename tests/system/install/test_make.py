# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`make demo` changes only the specified cluster, and `make clean` deletes nothing that other checkouts use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from testbed.processes import start_time
from testbed.running import CONTROL_PLANE, DRUID

ROOT = Path(__file__).parents[3]
SHARED = ("venv", "collections", "testbed")
LINK = "link/ansible_collections/druidops/druid"


def run(*command: str | Path, **variables: str) -> str:
    """Return what a command prints, run with these variables and none of those that make hands down."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "KUBE"))}
    finished = subprocess.run(
        command, cwd=ROOT, env={**inherited, **variables}, check=True, capture_output=True, encoding="utf-8"
    )
    return finished.stdout


@pytest.mark.parametrize(
    ("exported", "arguments", "used"),
    [
        ({"KUBECONFIG": "/production", "CONTEXT": "production"}, [], "DEMO_KUBECONFIG='' DEMO_CONTEXT=''"),
        ({"KUBECONFIG": "/production"}, ["KUBECONFIG=/mine"], "DEMO_KUBECONFIG='/mine' DEMO_CONTEXT=''"),
        ({}, ["KUBECONFIG=/mine", "CONTEXT=here"], "DEMO_KUBECONFIG='/mine' DEMO_CONTEXT='here'"),
        ({"KUBECONFIG": "/mine"}, ["CONTEXT=here"], "DEMO_KUBECONFIG='/mine' DEMO_CONTEXT='here'"),
    ],
)
def test_demo_uses_the_named_cluster(exported: dict[str, str], arguments: list[str], used: str) -> None:
    assert used in run("make", "--dry-run", "demo", *arguments, **exported)


def room(cache: Path, name: str, checkout: Path | None) -> Path:
    """Return a cache directory with a read-only file, which belongs to a checkout."""
    created = cache / f"checkout-{name}"
    (created / LINK).parent.mkdir(parents=True)
    if checkout:
        (created / LINK).symlink_to(checkout)
    (created / "modules").mkdir()
    (created / "modules/file").touch()
    (created / "modules").chmod(0o555)
    return created


def clean(cache: Path, own: Path) -> str:
    return run("tools/ci/clean", cache, own, sys.executable, "-m", "testbed.stop", PYTHONPATH=str(ROOT / "tests"))


def test_clean_removes_everything(tmp_path: Path) -> None:
    cache = tmp_path / "cache of mine"
    own = room(cache, "1", ROOT)
    room(cache, "2", tmp_path / "deleted")
    for name in SHARED:
        (cache / name).mkdir()
    assert clean(cache, own) == ""
    assert not cache.exists()


def test_clean_keeps_files_that_another_checkout_uses(tmp_path: Path) -> None:
    own, other, removed = (
        room(tmp_path, name, checkout) for name, checkout in (("1", ROOT), ("2", ROOT), ("3", tmp_path / "deleted"))
    )
    for name in SHARED:
        (tmp_path / name).mkdir()
    assert str(ROOT) in clean(tmp_path, own)
    assert [own.exists(), other.exists(), removed.exists()] == [False, True, False]
    assert all((tmp_path / name).exists() for name in SHARED)


# The subdirectories in which processes may run, and the file by which each is recognized.
MOLECULE = "ansible/tmp/molecule.abcd.default"
RUNNING = {
    "control-plane": CONTROL_PLANE,
    "node": CONTROL_PLANE,
    "demo/control-plane": CONTROL_PLANE,
    "druid": DRUID,
    f"{MOLECULE}/control-plane": CONTROL_PLANE,
}
Start = Callable[[Path], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a process that is recorded as running in a directory of the cache."""
    started = []

    def start(directory: Path) -> subprocess.Popen[bytes]:
        started.append(process := subprocess.Popen(["sleep", "600"]))
        directory.mkdir(parents=True)
        (directory / next(state for place, state in RUNNING.items() if directory.match(place))).touch()
        (directory / "pids").write_text(f"sleeper {process.pid} {start_time(process.pid)}\n")
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_clean_stops_processes_before_it_removes_their_directory(tmp_path: Path, start: Start) -> None:
    rooms = [room(tmp_path, "1", ROOT), room(tmp_path, "2", tmp_path / "deleted")]
    running = {each / place: start(each / place) for each in rooms for place in RUNNING}
    used = start(room(tmp_path, "3", ROOT) / "druid")
    clean(tmp_path, rooms[0])
    assert [place for place, process in running.items() if process.poll() is None] == []
    assert used.poll() is None


def test_stop_requires_no_virtual_environment(tmp_path: Path, start: Start) -> None:
    own = Path(run("make", "--eval=own: ; @echo $(WORK)", "own", DRUIDOPS_CACHE=str(tmp_path)).strip())
    running = {place: start(own / place) for place in RUNNING}
    # nor anything that is installed beside the standard library
    run("make", "stop", f"PYTHON={sys.executable} -S", DRUIDOPS_CACHE=str(tmp_path))
    assert [place for place, process in running.items() if process.poll() is None] == []
    assert not (tmp_path / "venv").exists()
