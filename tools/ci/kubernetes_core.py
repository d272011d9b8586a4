# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install one version of kubernetes.core into the cache, and print its collections path.

Usage: kubernetes_core.py CACHE oldest|newest

It is extracted from the "ansible" package, so that the tests only need access to the package index.
Users get it from Ansible Galaxy, as a dependency of this collection.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

MEMBERS = "ansible_collections/kubernetes/core/"


class Bundle(NamedTuple):
    """A release of the "ansible" package and its version of kubernetes.core."""

    package: str
    collection: str


BUNDLES = {
    "oldest": Bundle(package="11.0.0", collection="5.0.0"),  # galaxy.yml promises >=5.0.0
    "newest": Bundle(package="14.5.0", collection="6.6.0"),
}


def main() -> None:
    """Print the collections path, and install the collection first if necessary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("which", choices=sorted(BUNDLES))
    arguments = parser.parse_args()
    print(provide(arguments.cache / "collections", BUNDLES[arguments.which]))


def provide(directory: Path, bundle: Bundle) -> Path:
    """Return the path with exactly this version of the collection in it."""
    path = directory / f"kubernetes.core-{bundle.collection}"
    if not path.exists():
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory) as scratch:
            unpack(download(bundle, Path(scratch)), Path(scratch) / "collections")
            check_version(Path(scratch) / "collections", bundle)
            publish(Path(scratch) / "collections", path)
    return path


def download(bundle: Bundle, scratch: Path) -> Path:
    """Return the package's wheel."""
    print(f"Downloading ansible {bundle.package} for its kubernetes.core (once, 55 MB)", file=sys.stderr, flush=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    # The package requires the Python version of its ansible-core; the collection has a different range.
    pip.append("--ignore-requires-python")
    subprocess.run([*pip, "--dest", scratch, f"ansible=={bundle.package}"], check=True, stdout=sys.stderr)
    return next(scratch.glob("ansible-*.whl"))


def unpack(wheel: Path, destination: Path) -> None:
    """Extract one collection from the wheel, which has about a hundred."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(destination, (name for name in archive.namelist() if name.startswith(MEMBERS)))


def check_version(path: Path, bundle: Bundle) -> None:
    """Exit if the package has another version than in the table above."""
    manifest = json.loads((path / MEMBERS / "MANIFEST.json").read_text(encoding="utf-8"))
    found = manifest["collection_info"]["version"]
    if found != bundle.collection:
        sys.exit(f"ansible {bundle.package} bundles kubernetes.core {found}, not {bundle.collection}: correct BUNDLES")


def publish(source: Path, path: Path) -> None:
    """Move the finished directory into place, unless another process was faster."""
    try:
        source.rename(path)
    except OSError:
        if not path.exists():
            raise
        shutil.rmtree(source)


if __name__ == "__main__":
    main()
