# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Create the files of /opt/ansible in the operator's image in DIRECTORY, without building an image.

Usage: python -m tools.ci.image_layout DIRECTORY VIRTUAL_ENVIRONMENT COLLECTIONS [--at DIRECTORY]

The virtual environment of tests/requirements/operator.txt represents the packages of the base image, and COLLECTIONS
the downloads of the image's build. The sources are the build context of `docker build` in a clean checkout.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.ci.collection_tree import mirror, sources


def main() -> None:
    """Recreate the layout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("virtual_environment", type=Path)
    parser.add_argument("collections", type=Path)
    parser.add_argument("--at", type=Path, default=Path("/opt/ansible"))
    arguments = parser.parse_args()
    remove(arguments.directory)
    checkout = Path(__file__).parents[2]
    shutil.copytree(arguments.collections, arguments.directory / "collections")
    with tempfile.TemporaryDirectory() as context:
        mirror(checkout, in_context(checkout), Path(context))
        python, script = arguments.virtual_environment / "bin" / "python", Path(context, "build", "layout.py")
        command = [python, script, context, arguments.directory, "--at", arguments.at]
        subprocess.run(command, check=True, cwd=context)


def remove(directory: Path) -> None:
    """Remove a layout, which is read-only."""
    if directory.exists():
        subprocess.run(["chmod", "-R", "u+w", directory], check=True)
        shutil.rmtree(directory)


def in_context(checkout: Path) -> set[Path]:
    """Return the files of a clean checkout that .dockerignore includes: those below the names that it lists."""
    lines = (checkout / ".dockerignore").read_text(encoding="utf-8").splitlines()
    taken = {line.removeprefix("!/") for line in lines if line.startswith("!/")}
    return {name for name in sources(checkout) if name.parts[0] in taken}


if __name__ == "__main__":
    main()
