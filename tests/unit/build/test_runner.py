# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the image has in front of ansible-runner: bounds, the variables that a run keeps, and then the real program."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import yaml
from ansible_collections.druidops.druid.build.layout import write_programs
from ansible_collections.druidops.druid.build.runner.ansible_runner import next_on_path
from ansible_collections.druidops.druid.build.runner.restrictions import (
    MAX_REMOVED,
    PENDING,
    UNUSED_SECONDS,
    allowed_variables,
    limit_arguments,
    max_run_seconds,
    max_verbosity,
    seconds,
    sweep,
    unused_seconds,
)
from ansible_collections.druidops.druid.tests.testbed.operator import go_duration
from hypothesis import strategies as st

COLLECTION = Path(__file__).parents[3]
DIRECTORY = "/tmp/ansible-operator/runner/druid.apache.org/v1alpha1/Druid/namespace/name"
PLAYBOOK = "/opt/ansible/playbooks/operator_druid.yml"
VARIABLE = "ANSIBLE_VERBOSITY_DRUID_DRUID_APACHE_ORG"
# As ansible-operator gives them for a playbook and for a role.
OF_PLAYBOOK = ["run", DIRECTORY, "--rotate-artifacts", "6", "-p", PLAYBOOK, "-i", "123"]
OF_ROLE = ["run", DIRECTORY, "--rotate-artifacts", "6", "--role", "r", "--roles-path", "/", "--hosts", "localhost"]


def test_values_within_the_limits_are_kept() -> None:
    for arguments in (OF_PLAYBOOK, [*OF_ROLE, "-i", "1", "--role-skip-facts"], [*OF_PLAYBOOK, "--new", "value"]):
        assert limit_arguments(arguments, 0) == arguments


@pytest.mark.parametrize(
    ("asked", "allowed", "left"),
    [
        ("-v", 0, []),
        ("-vv", 0, []),
        ("-" + "v" * 100_000, 0, []),
        ("-v", 2, ["-v"]),
        ("-vv", 2, ["-vv"]),
        ("-vvv", 2, ["-vv"]),
        ("-" + "v" * 100_000, 3, ["-vvv"]),
    ],
)
def test_verbosity_is_limited(asked: str, allowed: int, left: list[str]) -> None:
    assert limit_arguments([*OF_PLAYBOOK, asked], allowed) == [*OF_PLAYBOOK, *left]


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("0", "20"),  # all of them
        ("-1", "20"),
        ("1", "6"),
        ("5", "6"),
        ("6", "6"),
        ("13", "13"),
        ("20", "20"),
        ("21", "20"),
        ("9223372036854775807", "20"),
        ("+7", "7"),
        ("many", "many"),
        ("", ""),
    ],
)
def test_artifacts_are_limited(asked: str, left: str) -> None:
    assert limit_arguments(["run", DIRECTORY, "--rotate-artifacts", asked, "-i", "1"], 0)[3] == left
    assert limit_arguments(["run", DIRECTORY, f"--rotate-artifacts={asked}"], 0)[2] == f"--rotate-artifacts={left}"


OPTIONS = [("--rotate-artifacts", "0"), ("--rotate-artifacts=99",), ("-v",), ("-vvvv",), ("-p", "x"), ("--new=1",)]


@hypothesis.given(st.lists(st.sampled_from(OPTIONS)), st.integers(0, 7))
def test_any_value_is_limited(options: list[tuple[str, ...]], verbosity: int) -> None:
    once = limit_arguments(["run", DIRECTORY, *(word for option in options for word in option)], verbosity)
    assert limit_arguments(once, verbosity) == once
    assert [each for each in once if each.startswith("-v") and len(each) > 1 + verbosity] == []
    assert not {"0", "--rotate-artifacts=99"} & set(once)


@pytest.mark.parametrize(
    ("directory", "environment", "expected"),
    [
        (DIRECTORY, {}, 0),
        (DIRECTORY, {VARIABLE: "3"}, 3),
        (DIRECTORY + "/", {VARIABLE: "3"}, 3),
        (DIRECTORY, {VARIABLE: "lots"}, 0),
        (DIRECTORY, {VARIABLE: "-1"}, 0),
        (DIRECTORY, {VARIABLE: ""}, 0),
        (DIRECTORY, {"ANSIBLE_VERBOSITY_DRUIDINGESTION_DRUID_APACHE_ORG": "3"}, 0),
        ("/tmp/somewhere", {VARIABLE: "3"}, 0),
    ],
)
def test_administrator_sets_the_verbosity(directory: str, environment: dict[str, str], expected: int) -> None:
    assert max_verbosity(directory, environment) == expected


@pytest.mark.parametrize(
    ("setting", "expected"), [(None, 900), ("60", 60), ("", 900), ("0", 900), ("-1", 900), ("1m", 60), ("soon", 900)]
)
def test_administrator_limits_the_duration_of_a_run(setting: str | None, expected: int) -> None:
    assert max_run_seconds({} if setting is None else {"DRUIDOPS_RUN_TIMEOUT": setting}) == expected


def test_the_text_of_a_resource_is_not_kept() -> None:
    meta = {"name": "name", "namespace": "namespace"}
    variables = {
        "ansible_operator_meta": meta,
        "ansible_connection": {"__ansible_unsafe": "docker"},
        "nodes": {"__ansible_vault": {"__ansible_unsafe": "x"}},
        "_druid_apache_org_druid": {"spec": {}},
        "_druid_apache_org_druid_spec": {},
        "druidops_of_watches": "{{ 1 }}",
    }
    assert allowed_variables(variables) == {"ansible_operator_meta": meta, "druidops_of_watches": "{{ 1 }}"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1ns", 1e-9),
        ("1us", 1e-6),
        ("1µs", 1e-6),
        ("1μs", 1e-6),
        ("2ms", 2e-3),
        ("5s", 5),
        ("+5s", 5),
        ("1h1m1.5s", 3661.5),
        (".5s", 0.5),
        ("1.s", 1),
        ("0s", 0),
        ("0", 0),
        ("-5s", 0),
        ("5", 0),
        ("5 s", 0),
        ("s", 0),
        (".s", 0),
        ("", 0),
    ],
)
def test_durations_are_those_of_go(text: str, expected: float) -> None:
    assert seconds(text) == pytest.approx(expected)


@hypothesis.given(st.integers(1, 10**9))
def test_the_seconds_of_a_duration_that_the_test_bed_reads_are_the_same(nanoseconds: int) -> None:
    text = f"{nanoseconds}ns"
    assert seconds(text) == pytest.approx(go_duration.seconds(text))


def test_field_of_a_resource_never_sets_a_variable_of_watches() -> None:
    """A field of the spec is a variable of its name; the API server removes fields that are not in the CRD."""
    for name in ("druids", "druidingestions"):
        crd = yaml.safe_load((COLLECTION / "config" / "crd" / f"{name}.yaml").read_text(encoding="utf-8"))
        for version in crd["spec"]["versions"]:
            spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
            assert not spec.get("x-kubernetes-preserve-unknown-fields")
            assert "additionalProperties" not in spec
            assert not [field for field in spec["properties"] if field.startswith("druidops_")]


def test_variables_of_watches_have_names_that_are_kept() -> None:
    for entry in yaml.safe_load((COLLECTION / "watches.yaml").read_text(encoding="utf-8")):
        for place in (entry, entry.get("finalizer", {})):
            assert all(name.startswith("druidops_") for name in place.get("vars", {})), place


def program(directory: Path, text: str) -> Path:
    directory.mkdir(exist_ok=True)
    file = directory / "ansible-runner"
    file.write_text(text)
    file.chmod(0o755)
    return file


def test_next_program_on_the_path_is_run(tmp_path: Path) -> None:
    recorder, ours, real = (program(tmp_path / name, "#!/bin/sh\n") for name in ("recorder", "ours", "real"))
    (tmp_path / "empty").mkdir()
    not_executable = program(tmp_path / "not-executable", "")
    not_executable.chmod(0o644)
    path = os.pathsep.join(
        str(tmp_path / name) for name in ("recorder", "ours", "empty", "not-executable", "real", "recorder")
    )
    assert next_on_path(str(ours), path) == str(real)
    assert next_on_path(str(ours), str(ours.parent)) is None
    # started by its path
    assert next_on_path(str(ours), f"{recorder.parent}:{real.parent}") == str(recorder)


class Started:
    """The program in front of one that prints how it was started."""

    def __init__(self, directory: Path) -> None:
        self.input = directory / "input" / "druid.apache.org" / "v1alpha1" / "Druid" / "namespace" / "name"
        (self.input / "env").mkdir(parents=True)
        self.bin = write_programs(directory / "bin", sys.executable)
        script = "import json,os,resource,sys; limit = resource.getrlimit(resource.RLIMIT_DATA)[0]"
        script += "; print(json.dumps([sys.argv[1:], sys.stdin.read(), os.getpid(), os.umask(0), limit > 0]))"
        program(directory / "real", f"#!{sys.executable} -IS\n{script}\nsys.exit(int(os.environ.get('STATUS', 0)))\n")
        self.path = f"{self.bin}:{directory / 'real'}"

    def write_input(self, variables: Any) -> None:
        self._file("extravars").write_text(json.dumps(variables))
        self._file("settings").write_text('{"runner_http_url": "/tmp/socket"}')

    def input_file(self, name: str) -> Any:
        return json.loads(self._file(name).read_text())

    def _file(self, name: str) -> Path:
        return self.input / "env" / name

    def run(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.bin / "ansible-runner", *arguments],
            env={"PATH": self.path, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def started(tmp_path: Path) -> Started:
    return Started(tmp_path)


def test_replaces_itself_with_the_real_program(started: Started) -> None:
    started.write_input({"ansible_operator_meta": {"name": "name"}, "secret": "text"})
    child = started.run(
        "run", str(started.input), "--rotate-artifacts", "0", "-i", "7", "-vvvv", STATUS="3", **{VARIABLE: "1"}
    )
    output, errors = child.communicate("standard input", timeout=60)
    expected = ["run", str(started.input), "--rotate-artifacts", "20", "-i", "7", "-v"]
    assert (json.loads(output), errors) == ([expected, "standard input", child.pid, 0o077, True], "")
    assert child.returncode == 3
    assert started.input_file("extravars") == {"ansible_operator_meta": {"name": "name"}}
    assert started.input_file("settings") == {"runner_http_url": "/tmp/socket", "job_timeout": 900}


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"ansible_operator_meta": \udcff}'])
def test_unreadable_variables_run_nothing(started: Started, text: str) -> None:
    (started.input / "env" / "extravars").write_text(text, errors="surrogateescape")
    child = started.run("run", str(started.input))
    output, errors = child.communicate(timeout=60)
    assert (child.returncode, output) == (2, "")
    assert f"ansible-runner: {started.input}/env/extravars: the run's extravars cannot be read" in errors


def test_each_attempt_is_recorded_until_a_run_starts(started: Started, tmp_path: Path) -> None:
    """Also one that fails because there is no real program; not one that a single resource makes fail."""
    pending = tmp_path / "pending"
    started.write_input({})
    started.path = str(started.bin)
    (started.input / "env" / "extravars").write_text("{")
    started.run("run", str(started.input), **{PENDING: str(pending)}).communicate(timeout=60)
    assert not pending.exists()

    started.write_input({})
    for number in (1, 2):
        before = int(time.time())
        started.run("run", str(started.input), **{PENDING: str(pending)}).communicate(timeout=60)
        lines = pending.read_text().splitlines()
        assert [line.partition(" ")[2] for line in lines] == [str(started.input)] * number
        assert before <= int(lines[-1].partition(" ")[0]) <= time.time() + 1
        assert before <= pending.stat().st_mtime <= time.time()


RUNS = "ansible-operator/runner"
HOUR = 3600
NOW = 10 * HOUR


def runs_of(root: Path, namespace: str, name: str, age: float, kind: str = "Druid") -> Path:
    """Make what ansible-operator and ansible-runner leave of a resource whose last run was that long ago."""
    directory = root / RUNS / "druid.apache.org" / "v1alpha1" / kind / namespace / name
    (directory / "artifacts" / "1").mkdir(parents=True)
    (directory / "env").mkdir()
    (directory / "artifacts" / "latest").symlink_to(directory / "artifacts" / "1")
    (directory / "env" / "extravars").write_text("{}")
    os.utime(directory / "env" / "extravars", (NOW - age, NOW - age))
    return directory


def test_files_of_resources_without_runs_are_removed(tmp_path: Path) -> None:
    current = runs_of(tmp_path, "a", "current", 0)
    kept = [current, runs_of(tmp_path, "a", "recent", UNUSED_SECONDS - 1)]
    deleted = [runs_of(tmp_path, "a", "old", HOUR), runs_of(tmp_path, "b", "old", HOUR, kind="DruidIngestion")]
    (tmp_path / "outside").mkdir()

    sweep(str(current), UNUSED_SECONDS, NOW)

    assert [each.exists() for each in kept] == [True, True]
    assert [each.exists() for each in deleted] == [False, False]
    assert not deleted[1].parent.exists()
    assert (tmp_path / "outside").exists()


def test_a_removal_that_was_interrupted_is_completed(tmp_path: Path) -> None:
    current = runs_of(tmp_path, "a", "current", 0)
    interrupted, starting = (runs_of(tmp_path, "a", name, HOUR) for name in ("interrupted", "starting"))
    for each, age in ((interrupted, HOUR), (starting, 0)):
        (each / "env" / "extravars").unlink()
        os.utime(each, (NOW - age, NOW - age))

    sweep(str(current), UNUSED_SECONDS, NOW)

    assert [each.exists() for each in (interrupted, starting)] == [False, True]


def test_removes_some_at_a_time_and_not_in_every_run(tmp_path: Path) -> None:
    current = runs_of(tmp_path, "a", "current", 0)
    for number in range(MAX_REMOVED + 5):
        runs_of(tmp_path, "b", f"old-{number}", HOUR)

    def left() -> int:
        return len([*(tmp_path / RUNS / "druid.apache.org" / "v1alpha1" / "Druid" / "b").glob("*")])

    sweep(str(current), UNUSED_SECONDS, NOW)
    assert left() == 5
    sweep(str(current), UNUSED_SECONDS, NOW + 1)
    assert left() == 5
    sweep(str(current), UNUSED_SECONDS, NOW + 61)
    assert left() == 0
    assert current.exists()


def test_removes_nothing_around_an_unknown_directory(tmp_path: Path) -> None:
    old = runs_of(tmp_path, "a", "old", HOUR)
    elsewhere = tmp_path / "1" / "2" / "3" / "4" / "5"
    elsewhere.mkdir(parents=True)
    for directory in ("a", "/tmp", "", str(elsewhere)):
        sweep(directory, UNUSED_SECONDS, NOW)
    assert old.exists()
    assert not (tmp_path / ".swept").exists()


@pytest.mark.parametrize(
    ("environment", "unused"),
    [
        ({}, 1800),
        ({"RECONCILE_WAIT": "60s"}, 1800),
        ({"RECONCILE_WAIT": "1h"}, 7200),
        ({"DRUIDOPS_RUN_TIMEOUT": "1h"}, 7200),
        ({"RECONCILE_WAIT": "x"}, 1800),
    ],
)
def test_the_files_of_a_resource_outlive_its_period(environment: dict[str, str], unused: float) -> None:
    assert unused_seconds(environment) == unused


def test_without_the_real_program(started: Started) -> None:
    started.path = str(started.bin)
    child = started.run("--version")
    assert "no other ansible-runner on PATH behind" in child.communicate(timeout=60)[1]
    assert child.returncode == 127


def test_other_commands_are_passed_on(started: Started) -> None:
    child = started.run("--version", "-vvv")
    assert json.loads(child.communicate(timeout=60)[0])[0] == ["--version", "-vvv"]


def test_every_user_can_run_the_program(started: Started) -> None:
    assert stat.S_IMODE((started.bin / "ansible-runner").stat().st_mode) == 0o755
