# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The digests of the operator's playbooks and of what they consist of: a run of other files is one of Ansible."""

from __future__ import annotations

from pathlib import Path

from build.runner import shipped

BEGIN, END = "# BEGIN DIGESTS", "# END DIGESTS"


def table(root: Path) -> str:
    """Return the constants of build/runner/shipped.py."""
    lines = [f'    "{name}": "{shipped.digest((root / name).read_bytes())}",' for name in sorted(shipped.files(root))]
    settings = shipped.digest((root / "build" / "ansible.cfg").read_bytes())
    return "\n".join(["DIGESTS: Mapping[str, str] = {", *lines, "}", f'SETTINGS = "{settings}"'])
