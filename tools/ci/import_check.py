# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the Galaxy importer on a built tarball, and fail if it reports a problem.

Usage: import_check.py TARBALL   (run it with the Python that has galaxy-importer)
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMPLAINTS = ("ERROR:", "WARNING:", "CRITICAL:")
SETTINGS = {
    "GALAXY_IMPORTER_RUN_ANSIBLE_TEST": "false",  # it wants containers; `make sanity` runs the same tests
    "GALAXY_IMPORTER_RUN_ANSIBLE_LINT": "false",  # `make lint` runs it, with a stricter profile
    "GALAXY_IMPORTER_CHECK_REQUIRED_TAGS": "true",
}


def main() -> None:
    """Exit with 1 if the import would fail or report a problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tarball", type=Path)
    result = run_importer(parser.parse_args().tarball.resolve())
    sys.stdout.write(result.stdout)
    complaints = [line for line in result.stdout.splitlines() if line.startswith(COMPLAINTS)]
    sys.exit(1 if result.returncode or complaints else 0)


def run_importer(tarball: Path) -> subprocess.CompletedProcess[str]:
    """Run the importer in a temporary directory, and return its result."""
    with tempfile.TemporaryDirectory() as scratch:
        local = {"GALAXY_IMPORTER_ANSIBLE_LOCAL_TMP": scratch, "GALAXY_IMPORTER_TMP_ROOT_DIR": scratch}
        return subprocess.run(
            [sys.executable, "-m", "galaxy_importer.main", str(tarball)],
            cwd=scratch,
            env={**os.environ, **SETTINGS, **local},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


if __name__ == "__main__":
    main()
