# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Building, with a stand-in for the go command that records its calls."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.testbed import build as module
from ansible_collections.druidops.druid.tests.testbed.build import BuildError, build, build_node, build_tool
from ansible_collections.druidops.druid.tests.testbed.cache import cache_directory
from ansible_collections.druidops.druid.tests.testbed.versions import MODULES, Version, version

GO = """#!/bin/sh
test "$1" = env && { echo "$STAND_IN_VERSION"; exit; }
echo "$@" >> "$CALLS"
ls >> "$CALLS"
test -n "$STAND_IN_FAILS" && { echo "undefined: $STAND_IN_FAILS"; exit 1; }
sleep 0.2
echo binary > program
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the calls of the stand-in for go."""
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(GO)
    go.chmod(0o755)
    monkeypatch.setenv("PATH", str(go.parent), prepend=":")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("STAND_IN_VERSION", "go1.26")
    monkeypatch.setenv("DRUIDOPS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "calls"


def builds(calls: Path) -> int:
    """How often go was called to build."""
    return calls.read_text().count("build -trimpath")


def test_one_program_contains_all_components(calls: Path) -> None:
    programs = build(Version("1.34"))
    assert programs.kwok == programs.kubernetes
    assert programs.kubernetes.read_text() == "binary\n"
    assert "gitVersion=v1.34." in calls.read_text()
    assert "kwok.go" in calls.read_text()


def test_kwok_is_a_separate_program_if_required(calls: Path) -> None:
    programs = build(Version("1.30"))
    assert programs.kwok != programs.kubernetes
    assert builds(calls) == 2


def test_a_node_has_the_kubelet_of_the_default_version(calls: Path) -> None:
    build_node()
    assert f"gitVersion={version().release}" in calls.read_text()
    assert "node.go" in calls.read_text()


def test_a_node_shares_the_libraries_of_the_control_plane() -> None:
    # what both have compiled is compiled once, unless a version differs
    control_plane, node = (required(MODULES / name / "go.mod") for name in (f"v{version().minor}", "node"))
    different = {name for name in control_plane.keys() & node if control_plane[name] != node[name]}
    # kwok needs newer ones than the kubelet
    assert different == {"k8s.io/cri-api", "k8s.io/cri-client"}


def required(file: Path) -> dict[str, str]:
    """The version of each module: the last one that the file names."""
    return dict(re.findall(r"^\t(\S+) (?:=> \S+ )?(v\S+)", file.read_text(), re.MULTILINE))


def test_built_program_is_used_again(calls: Path) -> None:
    assert build(Version("1.34")) == build(Version("1.34"))
    assert builds(calls) == 1


def test_other_compiler_builds_another_program(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(Version("1.34"))
    monkeypatch.setenv("STAND_IN_VERSION", "go1.27")
    assert build(Version("1.34")) != first
    assert first.kubernetes.exists()


def test_tool_is_built_from_a_package_that_a_module_requires(calls: Path, tmp_path: Path) -> None:
    module = tmp_path / "module"
    module.mkdir()
    for file in ("go.mod", "go.sum", "own.go"):
        (module / file).write_text(file)
    first = build_tool("tool", module, "example.com/tool/cmd/tool", minutes=1)
    assert first.name.startswith("tool-")
    called, *files = calls.read_text().splitlines()
    assert called.endswith("-o program example.com/tool/cmd/tool")
    assert {"go.mod", "go.sum", "own.go"} <= {*files}
    (module / "own.go").write_text("another")
    assert build_tool("tool", module, "example.com/tool/cmd/tool", minutes=1) != first


def test_tags_of_a_tool_make_another_program(calls: Path, tmp_path: Path) -> None:
    for name in ("go.mod", "go.sum"):
        (tmp_path / name).touch()
    first = build_tool("tool", tmp_path, minutes=1)
    assert build_tool("tool", tmp_path, minutes=1, tags=("small",)) != first
    assert "-tags grpcnotrace,small " in calls.read_text()


def test_failed_build_shows_the_output_and_caches_nothing(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_FAILS", "something")
    with pytest.raises(BuildError, match=r"(?s)kubernetes-v1\.34.* failed \(1\).*undefined: something"):
        build(Version("1.34"))
    monkeypatch.delenv("STAND_IN_FAILS")
    build(Version("1.34"))
    assert builds(calls) == 2


def test_two_builders_at_once_build_once(calls: Path) -> None:
    script = "from testbed.build import build; from testbed.versions import Version; build(Version('1.34'))"
    environment = {**os.environ, "PYTHONPATH": str(Path(module.__file__).parents[1])}
    builders = [subprocess.Popen([sys.executable, "-c", script], env=environment) for _builder in range(2)]
    assert [builder.wait() for builder in builders] == [0, 0]
    assert builds(calls) == 1


def test_missing_go_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DRUIDOPS_CACHE", str(tmp_path))
    with pytest.raises(BuildError, match="install Go"):
        build(Version("1.34"))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"DRUIDOPS_CACHE": "/one", "XDG_CACHE_HOME": "/two"}, "/one/testbed"),
        ({"XDG_CACHE_HOME": "/two"}, "/two/druidops/testbed"),
        ({}, "/home/me/.cache/druidops/testbed"),
    ],
)
def test_cache_directory(environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DRUIDOPS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **environment}.items():
        monkeypatch.setenv(name, value)
    assert cache_directory() == Path(expected)
