# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The README links to each document, and the architecture names each role and playbook that runs an action."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HERE = "https://github.com/druidops/druidops.druid/tree/main/"
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("docs/*.md", "docs/reference/*.md", "roles/*/README.md")
    for path in ROOT.glob(pattern)
)
RUN = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("roles/*"), *ROOT.glob("playbooks/operator_*.yml")))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_readme_links_to_each_document(document: str) -> None:
    [contents] = re.findall(r"^## Documentation$(.*?)^## ", README, re.M | re.S)
    assert f"]({HERE}{document})" in contents


@pytest.mark.parametrize("path", RUN)
def test_architecture_names_roles_and_playbooks(path: str) -> None:
    assert f"`{path}`" in ARCHITECTURE
