# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the demo shows."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tools.demo.output import Shell, error_of, progress, table

# Prints a line, and waits until the test has read it.
PROGRAM = """
import pathlib, sys, time
print("ready")
end = time.monotonic() + 60
while not pathlib.Path(sys.argv[1]).exists():
    if time.monotonic() > end:
        sys.exit("the line was not read")
    time.sleep(0.01)
"""


def test_a_line_is_shown_while_the_command_still_runs(tmp_path: Path) -> None:
    read = tmp_path / "read"

    def show(line: str) -> str:
        read.touch()
        return line

    Shell(os.environ, tmp_path / "log").run(sys.executable, "-c", PROGRAM, read, show=show)


# As ansible-core prints a reconcile that has failed.
OUTPUT = """
TASK [druidops.druid.druid_cluster : Reconcile the cluster] ****
one: 0/5 pods ready. Waiting for brokers 0/1.
[ERROR]: Task failed: Action failed: Druid demo/one: not ready
fatal: [localhost]: FAILED! => {
    "plan": [
        "create ConfigMap one-config"
    ]
}
TASK [druidops.druid.druid_cluster : Print the result] ****
ok: [localhost] => {
    "msg": [
        "create ConfigMap one-config",
        "Ready=False PodsFailing: \\"one\\" is not ready."
    ]
}
PLAY RECAP ****
localhost                  : ok=1    changed=0
""".splitlines()


def test_progress_is_what_the_cluster_awaits_and_then_its_plan_and_conditions() -> None:
    assert [*filter(None, map(progress("one"), OUTPUT))] == [
        "  0/5 pods ready. Waiting for brokers 0/1.",
        "  create ConfigMap one-config",
        '  Ready=False PodsFailing: "one" is not ready.',
    ]


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (OUTPUT, ["Druid demo/one: not ready"]),
        (["[ERROR]: the playbook could not be found"], ["the playbook could not be found"]),
        (["Traceback", "  ..."], ["Traceback", "  ..."]),
    ],
)
def test_of_a_failed_command_its_error_is_shown(output: list[str], error: list[str]) -> None:
    assert error_of(output) == error


def test_rows_are_below_their_columns() -> None:
    rows = [{"page": "start", "visits": 3}, {"page": "a", "visits": 1234567}]
    assert list(table(rows)) == ["  page   visits", "  -----  -------", "  start  3", "  a      1234567"]
