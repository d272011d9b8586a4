# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-runner itself, in the process of a run: for playbooks of others, which may need everything that it does."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_runner.__main__ import main


def run(arguments: Sequence[str]) -> int:
    """Run it with these arguments; the exit status."""
    return int(main([*arguments]) or 0)
