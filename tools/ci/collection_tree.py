# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Mirror the sources into DESTINATION/ansible_collections/druidops/druid, with other collections beside them.

Usage: collection_tree.py DESTINATION [COLLECTIONS_PATH ...] [--for-sanity]

ansible-test and ansible-lint require such a tree, and reject a symbolic link to a checkout.
Files that git tracks or would track are copied from the work tree; files that no longer exist are removed.
For ansible-test sanity, what is not released is left out, and YAML files with several documents (for Kubernetes, not
for Ansible): it rejects them unless they are in an ignore file, and yamllint with the project's settings checks them.
The modification time of DESTINATION/changed is that of the last change to a file of the release.
"""

from __future__ import annotations

import argparse
import filecmp
import re
import shutil
import subprocess
from pathlib import Path

OUTPUT = Path("tests/output")  # of ansible-test
UNRELEASED = ("tests", "tools")  # see build_ignore in galaxy.yml
SETTINGS = Path("tests/config.yml")  # of ansible-test
SEVERAL_DOCUMENTS = re.compile(r"^[^#\s-].*^---$", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Update the tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("destination", type=Path)
    parser.add_argument("collections", type=Path, nargs="*")
    parser.add_argument("--for-sanity", action="store_true")
    arguments = parser.parse_args()
    root = arguments.destination / "ansible_collections"
    desired = sources(Path.cwd())
    if arguments.for_sanity:
        desired = {
            name for name in desired if name == SETTINGS or not (is_unreleased(name) or has_several_documents(name))
        }
    changed = mirror(Path.cwd(), desired, root / "druidops" / "druid")
    marker = arguments.destination / "changed"
    if not marker.exists() or not all(is_unreleased(name) for name in changed):
        marker.touch()
    for path in arguments.collections:
        link_collections(path / "ansible_collections", root)


def mirror(checkout: Path, desired: set[Path], destination: Path) -> set[Path]:
    """Copy exactly these files of the checkout to the destination; return those that differed."""
    destination.mkdir(parents=True, exist_ok=True)
    stale = present(destination) - desired
    for name in stale:
        (destination / name).unlink()
    copied = {name for name in desired if copy(checkout / name, destination / name)}
    remove_empty_directories(destination)
    return stale | copied


def sources(checkout: Path) -> set[Path]:
    """Return the existing files that git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=checkout, check=True, capture_output=True, text=True).stdout
    names = {Path(name) for name in listed.split("\0") if name}
    return {name for name in names if (checkout / name).is_symlink() or (checkout / name).is_file()}


def is_unreleased(name: Path) -> bool:
    """Return whether the release lacks the file."""
    return name.parts[0] in UNRELEASED


def has_several_documents(name: Path) -> bool:
    """Return whether this is a YAML file with several documents."""
    return name.suffix in (".yaml", ".yml") and bool(SEVERAL_DOCUMENTS.search(name.read_text(encoding="utf-8")))


def present(destination: Path) -> set[Path]:
    """Return the files of an earlier run in the destination."""
    files = (path for path in destination.rglob("*") if path.is_symlink() or path.is_file())
    names = {path.relative_to(destination) for path in files}
    return {name for name in names if not name.is_relative_to(OUTPUT)}


def copy(source: Path, destination: Path) -> bool:
    """Copy a file or a link and return True, unless the destination already has the same content and mode."""
    if same(source, destination):
        return False
    destination.parent.mkdir(parents=True, exist_ok=True)
    destination.unlink(missing_ok=True)
    shutil.copy2(source, destination, follow_symlinks=False)
    return True


def same(source: Path, destination: Path) -> bool:
    """Return whether copying would change nothing."""
    if source.is_symlink() and destination.is_symlink():
        return source.readlink() == destination.readlink()
    if source.is_symlink() or destination.is_symlink() or not destination.exists():
        return False
    return source.stat().st_mode == destination.stat().st_mode and filecmp.cmp(source, destination, shallow=False)


def remove_empty_directories(destination: Path) -> None:
    """Remove empty directories, from the leaves up."""
    for directory in sorted((path for path in destination.rglob("*") if path.is_dir()), reverse=True):
        if not directory.is_symlink() and not any(directory.iterdir()):
            directory.rmdir()


def link_collections(source: Path, root: Path) -> None:
    """Link every collection of another collections path into the tree."""
    for collection in source.glob("*/*"):
        link = root / collection.relative_to(source)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(collection)


if __name__ == "__main__":
    main()
