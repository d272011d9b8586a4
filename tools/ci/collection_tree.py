# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Mirror the sources into DESTINATION/ansible_collections/druidops/druid, with other collections beside them.

Usage: collection_tree.py DESTINATION [COLLECTIONS_PATH ...] [--for-ansible-test]

ansible-test and ansible-lint insist on such a tree; a checkout is none, and they refuse a symbolic link.
What git tracks or would track is copied, as it is in the work tree; what is gone is removed.
For ansible-test YAML files with several documents (Kubernetes', not Ansible's) are left out: it refuses them,
its one way to be told otherwise is an ignore file, and yamllint with our own settings reads them anyway.
DESTINATION/changed is as old as the last change of what a release contains.
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
SEVERAL_DOCUMENTS = re.compile(r"^[^#\s-].*^---$", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Bring the tree up to date."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("destination", type=Path)
    parser.add_argument("collections", type=Path, nargs="*")
    parser.add_argument("--for-ansible-test", action="store_true")
    arguments = parser.parse_args()
    root = arguments.destination / "ansible_collections"
    wanted = sources(Path.cwd())
    if arguments.for_ansible_test:
        wanted = {name for name in wanted if not has_several_documents(name)}
    changed = mirror(Path.cwd(), wanted, root / "druidops" / "druid")
    marker = arguments.destination / "changed"
    if not marker.exists() or any(name.parts[0] not in UNRELEASED for name in changed):
        marker.touch()
    for path in arguments.collections:
        link_collections(path / "ansible_collections", root)


def mirror(checkout: Path, wanted: set[Path], destination: Path) -> set[Path]:
    """Make the destination hold these files of the checkout and nothing else; return those that differed."""
    destination.mkdir(parents=True, exist_ok=True)
    stale = present(destination) - wanted
    for name in stale:
        (destination / name).unlink()
    copied = {name for name in wanted if copy(checkout / name, destination / name)}
    remove_empty_directories(destination)
    return stale | copied


def sources(checkout: Path) -> set[Path]:
    """Return the files that git tracks or would track, as far as they exist."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=checkout, check=True, capture_output=True, text=True).stdout
    names = {Path(name) for name in listed.split("\0") if name}
    return {name for name in names if (checkout / name).is_symlink() or (checkout / name).is_file()}


def has_several_documents(name: Path) -> bool:
    """Return whether this is a YAML file in which a document follows another."""
    return name.suffix in (".yaml", ".yml") and bool(SEVERAL_DOCUMENTS.search(name.read_text(encoding="utf-8")))


def present(destination: Path) -> set[Path]:
    """Return the files that an earlier run left in the destination."""
    files = (path for path in destination.rglob("*") if path.is_symlink() or path.is_file())
    names = {path.relative_to(destination) for path in files}
    return {name for name in names if not name.is_relative_to(OUTPUT)}


def copy(source: Path, destination: Path) -> bool:
    """Copy a file or a link, and return True, unless it is there already, with the same content and mode."""
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
    """Remove the directories whose files are gone, from the leaves up."""
    for directory in sorted((path for path in destination.rglob("*") if path.is_dir()), reverse=True):
        if not directory.is_symlink() and not any(directory.iterdir()):
            directory.rmdir()


def link_collections(source: Path, root: Path) -> None:
    """Show every collection of another collections path in the tree too."""
    for collection in source.glob("*/*"):
        link = root / collection.relative_to(source)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(collection)


if __name__ == "__main__":
    main()
