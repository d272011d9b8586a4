# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Maven's output about unavailable extensions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.testbed.build import BuildError
from ansible_collections.druidops.druid.tests.testbed.druid import artifacts as module
from ansible_collections.druidops.druid.tests.testbed.druid.artifacts import build, unresolved_extensions
from ansible_collections.druidops.druid.tests.testbed.druid.versions import BASIC_SECURITY, KAFKA, version

OTHER = version("36.0.0")
FAILED = "[ERROR] Failed to execute goal on project testbed: Could not resolve dependencies for project x:x:pom:1: "
SEVERAL = "The following artifacts could not be resolved: "
EXTENSION = "org.apache.druid.extensions:{}:jar:36.0.0"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (f"Could not find artifact {EXTENSION.format(KAFKA)} in central (https://example.com)", (KAFKA,)),
        (
            f"{SEVERAL}{EXTENSION.format(BASIC_SECURITY)} (absent), {EXTENSION.format(KAFKA)} (absent): Could not find",
            (KAFKA, BASIC_SECURITY),
        ),
        # cached since the last attempt
        (f"{EXTENSION.format(KAFKA)} was not found in https://example.com during a previous attempt", (KAFKA,)),
        # Druid itself is not there, either
        (f"{SEVERAL}org.apache.druid:druid-sql:jar:36.0.0, {EXTENSION.format(KAFKA)}: Could not find", ()),
        # it may be there
        (f"Could not transfer artifact {EXTENSION.format(KAFKA)} from central: connection refused", ()),
        ("Failed to collect dependencies", ()),
    ],
)
def test_only_extensions_that_no_repository_has_are_left_out(reason: str, expected: tuple[str, ...]) -> None:
    assert unresolved_extensions(f"[INFO] Scanning\n{FAILED}{reason} -> [Help 1]\n", OTHER) == expected


MAVEN = """#!/bin/sh
echo run >> "$CALLS"
if grep -q 'druid-kafka-indexing-service' pom.xml; then
  echo "[ERROR] Could not resolve dependencies for project x:x:pom:1: Could not find artifact" \\
    "org.apache.druid.extensions:druid-kafka-indexing-service:jar:36.0.0 in central"
  exit 1
fi
touch "$JARS/one.jar"
printf %s "$JARS/one.jar" > class-path
"""
JAVAC = """#!/bin/sh
test "$1" = -version && { echo "javac 17"; exit; }
echo "$@" >> "$CALLS"
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the calls of the stand-ins for Maven and the compiler."""
    for name, text in (("mvn", MAVEN), ("javac", JAVAC)):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("JARS", str(tmp_path))
    monkeypatch.setenv("DRUIDOPS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "calls"


def runs(calls: Path) -> int:
    """How often Maven was run."""
    return calls.read_text().splitlines().count("run")


def test_missing_extension_is_reported_every_time(calls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warning = "druid 36.0.0: no druid-kafka-indexing-service, because Maven finds none"
    for _attempt in range(2):
        assert build(OTHER).missing == (KAFKA,)
        assert warning in capsys.readouterr().err
    # Druid with the extension, Druid without, Kafka
    assert runs(calls) == 3


def test_cleared_repository_of_maven_is_noticed(calls: Path) -> None:
    first = build(OTHER)
    Path(first.kafka).unlink()
    assert build(OTHER) == first
    assert Path(first.kafka).exists()


def test_changed_launcher_is_compiled_without_maven(
    calls: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = build(OTHER)
    before = runs(calls)
    monkeypatch.setattr(module, "LAUNCHER", tmp_path)
    (tmp_path / "Launcher.java").write_text("class Launcher {}")
    assert build(OTHER).druid != first.druid
    assert runs(calls) == before


@pytest.mark.parametrize(("missing", "advice"), [("mvn", "install Maven"), ("javac", "install a JDK 17")])
def test_missing_program_is_named(calls: Path, monkeypatch: pytest.MonkeyPatch, missing: str, advice: str) -> None:
    (calls.parent / "bin" / missing).unlink()
    monkeypatch.setenv("PATH", str(calls.parent / "bin"))
    with pytest.raises(BuildError, match=advice):
        build(OTHER)
