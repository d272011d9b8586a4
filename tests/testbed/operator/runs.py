# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The list of runs: a program in front of ansible-runner records each, independently of the caller."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

RUNNER = "ansible-runner"
INPUT = Path("/tmp/ansible-operator/runner")

_RECORDER = """\
#!/bin/bash
# {runner} and a line for its begin and its end
ident=
for (( i = 1; i < $#; i++ )); do
  if [[ ${{!i}} == -i ]]; then next=$((i + 1)); ident=${{!next}}; fi
done
printf 'begin %s %s %s\\n' "$ident" "$EPOCHREALTIME" "$2" >> {record}
{runner} "$@"
status=$?
printf 'end %s %s %s\\n' "$ident" "$EPOCHREALTIME" "$status" >> {record}
exit "$status"
"""


@dataclass(frozen=True)
class Run:
    """One run of ansible-runner; times in seconds since the epoch, end and status None while (or as if) it runs."""

    ident: str
    directory: Path
    begin: float
    end: float | None = None
    status: int | None = None

    @property
    def kind(self) -> str:
        """The kind of the resource."""
        return self.directory.parts[-3]

    @property
    def namespace(self) -> str:
        """The namespace of the resource."""
        return self.directory.parts[-2]

    @property
    def name(self) -> str:
        """The name of the resource."""
        return self.directory.name

    @property
    def stdout(self) -> str:
        """What ansible-playbook has printed, as long as no more than maxRunnerArtifacts runs came after it."""
        return (self.directory / "artifacts" / self.ident / "stdout").read_text()


def write_recorder(path: Path, runner: Path, record: Path) -> None:
    """Write a program that runs the runner and records that."""
    path.write_text(_RECORDER.format(runner=shlex.quote(str(runner)), record=shlex.quote(str(record))))
    path.chmod(0o755)


def read_runs(record: Path) -> list[Run]:
    """The recorded runs in the order of their begin."""
    runs: dict[str, Run] = {}
    lines = record.read_text().rpartition("\n")[0].splitlines() if record.exists() else []
    for what, ident, when, rest in (line.split(" ", 3) for line in lines):
        if what == "begin":
            runs[ident] = Run(ident, Path(rest), float(when))
        else:
            begun = runs[ident]
            runs[ident] = Run(ident, begun.directory, begun.begin, float(when), int(rest))
    return list(runs.values())
