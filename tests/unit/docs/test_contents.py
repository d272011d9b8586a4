# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The README is short and links to each document, and the architecture names each role. Links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HERE = "https://github.com/druidops/druidops.druid/tree/main/"
README = (ROOT / "README.md").read_text(encoding="utf-8")
GETTING_STARTED = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("docs/*.md", "docs/reference/*.md", "roles/*/README.md")
    for path in ROOT.glob(pattern)
)
RUN = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("roles/*"), *ROOT.glob("playbooks/operator_*.yml")))
# Those that a reviewer of Ansible's collections looks for.
SECTIONS = (
    *("Description", "Requirements", "Installation", "Use cases"),
    *("Documentation", "Testing", "Support", "Release notes", "License"),
)


def test_readme_is_read_to_its_end() -> None:
    assert len(README.splitlines()) <= 150
    assert re.findall(r"^## (.*)$", README, re.MULTILINE) == [*SECTIONS]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_readme_links_to_each_document(document: str) -> None:
    [contents] = re.findall(r"^## Documentation$(.*?)^## ", README, re.M | re.S)
    assert f"]({HERE}{document})" in contents


def test_readme_has_absolute_links() -> None:
    assert [link for link in links("README.md") if not link.startswith("https://")] == []


def test_readme_has_the_commands_of_the_guide() -> None:
    found = re.findall(r"^ansible-playbook .*$", README, re.MULTILINE)
    assert len(found) == 3
    assert [command for command in found if f"$ {command}\n" not in GETTING_STARTED] == []


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "RELEASING.md", *DOCUMENTS])
def test_links_lead_to_a_file_and_a_heading(document: str) -> None:
    assert [link for link in links(document) if not leads_somewhere(document, link)] == []


def links(document: str) -> list[str]:
    """Return the targets of the links and pictures of a document, outside of its code."""
    text = (ROOT / document).read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```|`[^`]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def leads_somewhere(document: str, link: str) -> bool:
    """Return whether the file of a link exists, and has its heading; True for other sites."""
    raw = link.replace("https://raw.githubusercontent.com/druidops/druidops.druid/main/", HERE)
    if raw.startswith("https://") and not raw.startswith(HERE):
        return True
    name, _mark, heading = raw.partition("#")
    path = ROOT / name.removeprefix(HERE) if raw.startswith(HERE) else (ROOT / document).parent / name
    target = path if name else ROOT / document
    return target.exists() and (not heading or heading in headings(target))


def headings(document: Path) -> set[str]:
    """Return the headings of a document as GitHub's anchors."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", title)).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", RUN)
def test_architecture_names_roles_and_playbooks(path: str) -> None:
    assert f"`{path}`" in ARCHITECTURE
