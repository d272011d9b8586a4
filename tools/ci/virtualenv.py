# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Create the virtual environment of one requirements file, unless it exists, and print its directory.

Usage: virtualenv.py CACHE REQUIREMENTS_FILE [--path-only]

The directory's name contains a hash of the requirements and of the Python, so a changed pin creates a new one.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

COMPLETE = ".complete"


def main() -> None:
    """Print the environment's directory, and create it first if necessary."""
    arguments = parse_arguments()
    directory = directory_of(arguments.cache, arguments.requirements)
    if not arguments.path_only:
        make(directory, arguments.requirements)
    print(directory)


def parse_arguments() -> argparse.Namespace:
    """Return the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("requirements", type=Path)
    parser.add_argument("--path-only", action="store_true", help="print the directory without creating the environment")
    return parser.parse_args()


def directory_of(cache: Path, requirements: Path) -> Path:
    """Return the directory of the environment for exactly these requirements and this Python."""
    fingerprint = hashlib.sha256(content(requirements) + sys.version.encode() + sys.prefix.encode())
    return cache / "venv" / f"{requirements.stem}-{fingerprint.hexdigest()[:12]}"


def content(requirements: Path) -> bytes:
    """Return the file and the files that it includes with lines of the form -r FILE."""
    text = requirements.read_bytes()
    included = re.findall(rb"^-r (.+)$", text, re.MULTILINE)
    return text + b"".join(content(requirements.parent / name.decode()) for name in included)


def make(directory: Path, requirements: Path) -> None:
    """Create the environment once, even if several processes do so concurrently."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with directory.with_name(directory.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / COMPLETE).exists():
            install(directory, requirements)
            (directory / COMPLETE).touch()


def install(directory: Path, requirements: Path) -> None:
    """Install the requirements into an empty environment, with the index and certificates of pip's configuration."""
    print(f"Installing {requirements.name} (once, up to a minute)", file=sys.stderr, flush=True)
    shutil.rmtree(directory, ignore_errors=True)
    venv.create(directory, with_pip=True, symlinks=True)
    pip = [str(directory / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--requirement", str(requirements)], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    main()
