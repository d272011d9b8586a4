# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start the operator without the attempts of the container that ran before in the same pod.

Usage: start PROGRAM ARGUMENT... (ansible-operator and its flags)

/tmp outlives the container, and the new operator may be a standby, which runs nothing: only this removes the file.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

# See runner.py.
PENDING = "DRUIDOPS_PENDING_RUN"


def main() -> None:
    """Remove the file, and become the program: the same process, streams and signals."""
    with suppress(OSError):
        os.unlink(os.environ.get(PENDING, ""))
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
