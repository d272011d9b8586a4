# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run by `make campaign`: runs the parts one by one, and writes their results to docs/testing.md."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

from .parts import PARTS, Part
from .record import DOCUMENT, row, with_rows


def main() -> None:
    """Run the selected parts; the exit status is 0 if all of them ran and passed."""
    seed = int(os.environ.get("DRUIDOPS_SEED") or random.SystemRandom().randrange(1_000_000))
    print(f"==> campaign with DRUIDOPS_SEED={seed}", flush=True)
    passed = [_run_and_record(part, seed) for part in _chosen()]
    sys.exit(0 if all(passed) else 1)


def _chosen() -> Sequence[Part]:
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__)
    parser.add_argument("--part", action="append", choices=[part.name for part in PARTS], help="default: all parts")
    chosen = parser.parse_args().part
    return [part for part in PARTS if not chosen or part.name in chosen]


def _run_and_record(part: Part, seed: int) -> bool:
    if part.needs and not shutil.which(part.needs):
        print(f"==> {part.name}: not run, {part.needs} is not on PATH", flush=True)
        return False
    print(f"==> {part.name}: {part.shows}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        status = subprocess.run(_command(part, report, seed), env=_environment(seed), check=False).returncode
        result = _counts(report) or ("passed" if status == 0 else f"failed with exit status {status}")
    minutes = round((time.monotonic() - begin) / 60)
    print(f"==> {part.name}: {result}, {minutes} min", flush=True)
    line = row(part.name, part.shows, f"{datetime.now(UTC):%Y-%m-%d}", _commit(), result, minutes)
    text = with_rows(DOCUMENT.read_text(encoding="utf-8"), {part.name: line}, [each.name for each in PARTS])
    DOCUMENT.write_text(text, encoding="utf-8")
    return status == 0


def _command(part: Part, report: Path, seed: int) -> list[str]:
    command = ["make", part.target, *part.variables]
    if part.arguments is not None:
        command += [f"TESTS={part.tests}"] if part.tests else []
        command += [f"ARGUMENTS={part.arguments.format(seed=seed)} --junitxml={report} -o junit_family=xunit1"]
    return command


def _environment(seed: int) -> dict[str, str]:
    """Return the environment without the variables that make passes to its child processes."""
    set_by_make = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "KUBERNETES")
    return {**{name: text for name, text in os.environ.items() if name not in set_by_make}, "DRUIDOPS_SEED": str(seed)}


def _counts(report: Path) -> str:
    """Return the numbers of passed and failed tests; empty if pytest has written no report."""
    if not report.exists():
        return ""
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    total, failed = (sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "failures"))
    errors, skipped = (sum(int(suite.get(name, 0)) for suite in suites) for name in ("errors", "skipped"))
    return f"{total - failed - errors - skipped} passed, {failed + errors} failed" + (
        f", {skipped} skipped" if skipped else ""
    )


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
