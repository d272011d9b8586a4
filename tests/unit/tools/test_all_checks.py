# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`make test` runs all checks and tests, whatever fails, and its end names each failure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).parents[3] / "tools" / "ci"
# The targets of the Makefile that tools/ci/test runs, with quick checks.
MAKEFILE = """
checks: two more
two: ; @tools/ci/gate first $(FIRST); tools/ci/gate second $(SECOND)
more: $(PREREQUISITE) ; @tools/ci/gate third true
sanity-2.19: ; @tools/ci/gate sanity $(SANITY)
molecule: ; @tools/ci/gate molecule $(MOLECULE)
all-tests unit: ; @echo "$@ ran"; $(TESTS)
"""
# The test bed, in which the commands in FAIL fail.
TESTBED = """
import os, sys
command = " ".join(sys.argv[1:])
print("error of " + command)
sys.exit(any(command.startswith(each) for each in os.environ["FAIL"].split(",") if each))
"""
PASSING = {
    "FIRST": "true",
    "SECOND": "true",
    "MOLECULE": "true",
    "SANITY": "true",
    "TESTS": "true",
    "PREREQUISITE": "",
    "FAIL": "",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the real scripts."""
    (tmp_path / "tools/ci").mkdir(parents=True)
    for name in ("test", "gate"):
        shutil.copy(CI / name, tmp_path / "tools/ci")
    for name, content in {
        "Makefile": MAKEFILE,
        "config/crd/as.yaml": "",
        "tests/testbed/__init__.py": "",
        "tests/testbed/__main__.py": TESTBED,
        "tests/testbed/prepare.py": TESTBED,
        "tests/testbed/node/__init__.py": "",
        "tests/testbed/node/requirements.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path


def run(checkout: Path, **failing: str) -> tuple[int, list[str], list[str]]:
    """Return the exit code, the lines of the output, and those of the summary of failures, without durations."""
    variables = {
        "PATH": os.environ["PATH"],
        "TMPDIR": str(checkout),
        "KUBERNETES": "1.34",
        "DRUID": "33.0.0",
        "DRUIDOPS_CORE_2_19": sys.prefix,
        **PASSING,
        **failing,
    }
    command = checkout / "tools/ci/test"
    finished = subprocess.run(
        [command],
        cwd=checkout,
        env=variables,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    output, _title, summary = finished.stdout.partition("\n==> FAILED\n")
    failures = [line.strip().partition(" after ")[0] for line in summary.splitlines()]
    return finished.returncode, output.splitlines(), failures


def test_nothing_fails(checkout: Path) -> None:
    code, output, failures = run(checkout)
    assert (code, failures) == (0, [])
    assert "all-tests ran" in output


@pytest.mark.parametrize(
    ("failing", "failures"),
    [
        ({"FIRST": "false"}, ["first, exit code 1"]),
        ({"FIRST": "false", "SECOND": "false"}, ["first, exit code 1", "second, exit code 1"]),
        ({"PREREQUISITE": "missing"}, ["the checks could not all run"]),
        ({"MOLECULE": "false"}, ["molecule, exit code 1"]),
        ({"SANITY": "false"}, ["sanity, exit code 1"]),
        ({"TESTS": "false"}, ["tests"]),
        ({"FIRST": "false", "MOLECULE": "false", "TESTS": "false"}, ["first, ...", "molecule, ...", "tests"]),
        ({"FAIL": "--druid"}, ["the download of Druid: the tests that need it fail, too"]),
        ({"FAIL": "up"}, ["the control plane for molecule"]),
    ],
)
def test_each_failure_is_named_and_everything_runs(
    failing: dict[str, str], failures: list[str], checkout: Path
) -> None:
    code, output, summary = run(checkout, **failing)
    assert code == 1
    assert [each.replace("...", "exit code 1") for each in failures] == summary
    ran = [line for line in output if line.startswith("==> ") or line.endswith(" ran")]
    assert {"==> first", "==> second", "==> molecule", "==> sanity", "all-tests ran"} <= {*ran}
    assert ("==> third" in ran) == ("PREREQUISITE" not in failing)


def test_without_a_control_plane_only_unit_tests_run(checkout: Path) -> None:
    code, output, failures = run(checkout, FAIL="--kubernetes", FIRST="false")
    assert code == 1
    log = "error of --kubernetes 1.34 kubernetes kubectl helm promtool node images"
    assert {"==> second", "==> third", log, "unit ran"} <= {*output}
    assert "==> molecule" not in output
    assert failures == ["first, exit code 1", "the build of Kubernetes: of the tests, only the unit tests ran"]


def test_a_single_check_has_its_own_exit_code() -> None:
    finished = subprocess.run(
        [CI / "gate", "one", "bash", "-c", "exit 3"], capture_output=True, check=False, encoding="utf-8"
    )
    assert (finished.returncode, finished.stdout) == (3, "==> one\n")
    assert finished.stderr.startswith("    FAILED: one, exit code 3 after ")
