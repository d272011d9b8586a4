# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a person reads."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def title(text: str) -> None:
    """Print the heading of a part."""
    say(f"\n==> {text}")


class Shell:
    """Runs commands as a person would, and prints them."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        # Ansible does not flush what it prints to a pipe
        self._environment, self._log = {**environment, "PYTHONUNBUFFERED": "1"}, log
        self._status = 0

    def run(self, *command: str | Path, show: Callable[[str], str | None] = lambda line: line) -> None:
        """Print the command, and the lines that `show` returns something for."""
        say(f"\n$ {shlex.join(map(str, command))}")
        self.quietly(*command, show=show)

    def quietly(self, *command: str | Path, show: Callable[[str], str | None] = lambda line: None) -> None:
        """Print only the lines that `show` returns something for; if the command fails, exit with its error."""
        others = []
        for line in self._lines(command):
            if (shown := show(line)) is not None:
                say(shown)
            else:
                others.append(line)
        if self._status != 0:
            sys.exit("\n".join([*error_of(others), f"It failed. All output is in {self._log}."]))

    def read(self, *command: str | Path) -> str:
        """What a command prints; if it fails, exit with its error."""
        ran = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(ran.stderr.strip())
        return ran.stdout

    def _lines(self, command: Sequence[str | Path]) -> Iterator[str]:
        pipe, errors = subprocess.PIPE, subprocess.STDOUT
        with (
            self._log.open("a") as log,
            subprocess.Popen(
                command, env=self._environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=errors
            ) as ran,
        ):
            for line in ran.stdout or ():
                text = line.decode(errors="replace").rstrip()
                log.write(f"{text}\n")
                yield text
        self._status = ran.returncode


def error_of(output: Sequence[str]) -> Sequence[str]:
    """The errors in what a command has printed: those of the tasks of a playbook, or else everything."""
    failed = re.compile(r"\[ERROR\]: (?:Task failed: (?:Action failed: |Module failed: )?)?(.+)")
    return [match[1] for line in output if (match := failed.fullmatch(line))] or output


def progress(name: str) -> Callable[[str], str | None]:
    """Of the output of a playbook: what a reconcile of the cluster awaits, and its result at the end, which is JSON."""
    task = ""

    def show(line: str) -> str | None:
        nonlocal task
        if line.startswith("TASK ["):
            task = line
        if line.startswith(f"{name}: "):
            return f"  {line.removeprefix(f'{name}: ')}"
        is_result = "Print the result]" in task and line.startswith('        "')
        return f"  {json.loads(line.rstrip(','))}" if is_result else None

    return show


def nothing(_line: str) -> None:
    """Show no line."""


def table(rows: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """The rows of an answer below their columns."""
    cells = [[*rows[0]], *([str(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    return ("  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)
