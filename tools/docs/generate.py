# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the generated parts of documents: the roles' variables, and tables that tests have.

Usage: python -m tools.docs.generate [--check]   (--check writes nothing and fails if a document is outdated)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.docs import campaign_tests, digests, health, permissions, role_variables


class Part(NamedTuple):
    """A part of a document: the marker lines before and after it, and its text."""

    document: Path
    begin: str
    end: str
    text: str


def main() -> None:
    """Update every document, or report which are outdated."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file would be written")
    check = parser.parse_args().check
    stale = [str(part.document) for part in parts() if not update(part, check)]
    if stale:
        sys.exit(f"not up to date, run `make docs`: {', '.join(stale)}")


def parts() -> Iterator[Part]:
    """Yield all generated parts."""
    for role in sorted(Path("roles").iterdir()):
        yield Part(role / "README.md", role_variables.BEGIN, role_variables.END, role_variables.table(role))
    tests = campaign_tests.table(Path("tests/system"))
    yield Part(Path("docs/testing.md"), campaign_tests.BEGIN, campaign_tests.END, tests)
    health_of_tools = health.table(Path("tests/system/cluster/health.yml"))
    yield Part(Path("docs/gitops.md"), health.BEGIN, health.END, health_of_tools)
    required = permissions.table(Path("tests/system/modules/permissions.yml"))
    yield Part(Path("docs/permissions.md"), permissions.BEGIN, permissions.END, required)
    yield Part(Path("build/runner/shipped.py"), digests.BEGIN, digests.END, digests.table(Path()))


def update(part: Part, check: bool) -> bool:
    """Return whether the part is up to date; without `check`, update it first."""
    text = part.document.read_text(encoding="utf-8")
    before, begin, rest = text.partition(part.begin)
    _old, end, after = rest.partition(part.end)
    if not (begin and end):
        sys.exit(f"{part.document} lacks the markers of its generated part")
    updated = f"{before}{begin}\n{part.text}\n{end}{after}"
    if updated != text and not check:
        part.document.write_text(updated, encoding="utf-8")
    return updated == text or not check


if __name__ == "__main__":
    main()
