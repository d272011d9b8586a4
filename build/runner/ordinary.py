# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ordinary way: this process restricts the run, and becomes the real ansible-runner."""

from __future__ import annotations

import os
import sys
import time

from . import restrictions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

NAME = "ansible-runner"
_NOT_FOUND = 127


def run(arguments: list[str], reason: str | None) -> NoReturn:
    """Become the real program: the same process, streams and signals.

    ``reason``: why the resident process does not carry out the run, None if it is not meant to.
    """
    if reason is not None:
        from . import ordinary_report

        ordinary_report.report(reason, dict(os.environ))
    if arguments[:1] == ["run"] and len(arguments) > 1:
        arguments = restrictions.restrict(arguments, dict(os.environ), time.time())
    program = next_on_path(sys.argv[0], os.environ.get("PATH", os.defpath))
    if program is None:
        sys.stderr.write(f"{NAME}: no other {NAME} on PATH behind {sys.argv[0]}: {os.environ.get('PATH')}\n")
        sys.exit(_NOT_FOUND)
    os.execv(program, [program, *arguments])


def next_on_path(own: str, path: str) -> str | None:
    """The next program of the same name on the path after this one; the first if this one is not on the path."""
    places = [os.path.join(directory or ".", NAME) for directory in path.split(os.pathsep)]
    programs = [place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)]
    ours = [index for index, program in enumerate(programs) if os.path.samefile(program, own)]
    return next(iter(programs[ours[-1] + 1 if ours else 0 :]), None)
