# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The jobs that a demo prepares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tools.demo.preparation import Job, Preparation


def job(title: str, script: str, *after: str) -> Job:
    return Job(title, 60, ["sh", "-c", script], after)


def run(directory: Path, *jobs: Job) -> dict[str, str]:
    preparation = Preparation(jobs, directory, os.environ)
    preparation.run()
    return preparation.failures


def test_a_job_starts_after_those_that_it_needs(tmp_path: Path) -> None:
    second = job("second", f"cat {tmp_path}/first", "first")
    assert run(tmp_path, second, job("first", f"sleep 0.1; echo content >{tmp_path}/first")) == {}
    assert (tmp_path / "second.log").read_text() == "content\n"


def test_jobs_that_do_not_need_each_other_run_at_once(tmp_path: Path) -> None:
    meet = "touch {0}/{1}; until test -e {0}/{2}; do sleep 0.01; done"
    assert run(tmp_path, job("a", meet.format(tmp_path, 1, 2)), job("b", meet.format(tmp_path, 2, 1))) == {}


def test_a_failure_is_that_of_all_that_need_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = (job("first", "echo much; echo no space left; exit 1"), job("second", "true", "first"), job("third", "true"))
    assert run(tmp_path, *jobs) == {"first": "no space left", "second": "no space left"}
    assert f"  first: failed, see {tmp_path}/first.log\n" in capsys.readouterr().out
