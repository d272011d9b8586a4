# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""
Stop the processes of directories, control planes and Druids, and remove the directories: stop DIRECTORY...

It needs the standard library alone, so that processes of a virtual environment can be stopped without it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .processes import ProcessError
from .progress import say
from .running import STATES, remove


def main() -> int:
    """Stop what runs in each directory; the exit status."""
    return max([_stop(Path(directory)) for directory in sys.argv[1:]], default=0)


def _stop(directory: Path) -> int:
    try:
        if remove(directory, *STATES):
            say(f"stopped: {directory}")
    except (OSError, ProcessError) as error:
        say(f"error: {directory}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
