# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy the files that the Helm chart shares with config/ into it: a chart cannot refer to files outside of itself.

Usage: generate.py [--check]   (--check writes nothing and fails if a copy is outdated)
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

CONFIG = Path("config")
FILES = Path("charts/druid-operator/files")


def main() -> None:
    """Update every copy, or report which are outdated."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file would be written")
    check = parser.parse_args().check
    desired = copies()
    stale = [path for path in sorted(desired.keys() | present()) if content(path) != desired.get(path)]
    if stale and check:
        sys.exit(f"not up to date, run `make chart`: {', '.join(map(str, stale))}")
    for path in stale:
        write(path, desired.get(path))


def copies() -> dict[Path, bytes]:
    """Return the desired content of the chart's files: the CRDs, the permissions, and the admission policy."""
    crds = (file for file in (CONFIG / "crd").glob("*.yaml") if file.name != "kustomization.yaml")
    return {
        FILES / "role.yaml": (CONFIG / "rbac" / "role.yaml").read_bytes(),
        FILES / "collector_role.yaml": (CONFIG / "collector" / "role.yaml").read_bytes(),
        FILES / "collector_account_role.yaml": (CONFIG / "collector_account" / "operator_role.yaml").read_bytes(),
        FILES / "annotations.yaml": (CONFIG / "admission" / "annotations.yaml").read_bytes(),
        **{FILES / "crds" / crd.name: crd.read_bytes() for crd in crds},
    }


def present() -> set[Path]:
    """Return the existing files."""
    return {path for path in FILES.rglob("*") if path.is_file()}


def content(path: Path) -> bytes | None:
    """Return the content of a file, None if it does not exist."""
    return path.read_bytes() if path.exists() else None


def write(path: Path, desired: bytes | None) -> None:
    """Write the file, or remove it if the content is None."""
    if desired is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(desired)


if __name__ == "__main__":
    main()
