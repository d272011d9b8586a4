# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file of the runs of which none has reached its reconcile; the readiness probe of the operator reads it."""

from __future__ import annotations

import os
from contextlib import suppress

_FILE = "DRUIDOPS_PENDING_RUN"


def report_start() -> None:
    """Tell the readiness probe of the operator's pod (build/ready.py) that runs start."""
    pending = os.environ.get(_FILE)
    if pending:
        with suppress(OSError):
            os.unlink(pending)
