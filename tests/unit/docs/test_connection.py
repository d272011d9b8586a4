# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of several modules are defined twice: in an argument spec and in a doc fragment."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.doc_fragments import connection, job
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION, JOB

ROOT = Path(__file__).resolve().parents[3]
MATRIX = ROOT / "tests" / "system" / "modules" / "matrix"
FACTS = ("type", "elements", "choices", "default", "required", "aliases")
DOCUMENTED: dict[str, Any] = yaml.safe_load(connection.ModuleDocFragment.DOCUMENTATION)["options"]
DOCUMENTED_OF_JOBS: dict[str, Any] = yaml.safe_load(job.ModuleDocFragment.DOCUMENTATION)["options"]


def modules() -> list[Path]:
    """The modules for Druid's API."""
    files = sorted((ROOT / "plugins" / "modules").glob("*.py"))
    return [file for file in files if "module_utils._operations.module import" in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize(("documented", "spec"), [(DOCUMENTED, CONNECTION), (DOCUMENTED_OF_JOBS, JOB)])
def test_a_fragment_has_the_options_of_the_argument_spec(documented: dict[str, Any], spec: dict[str, Any]) -> None:
    assert {name: facts(option) for name, option in documented.items()} == {
        name: facts(option) for name, option in spec.items()
    }


def facts(option: dict[str, Any]) -> dict[str, Any]:
    return {fact: option.get(fact) for fact in FACTS}


@pytest.mark.parametrize("name", CONNECTION)
def test_an_option_names_its_variable_of_the_environment(name: str) -> None:
    [variable] = CONNECTION[name]["fallback"][1]
    assert f"E({variable})" in " ".join(DOCUMENTED[name]["description"])


def test_there_are_modules() -> None:
    assert modules()


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.stem)
def test_every_module_documents_its_connection(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    [text] = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "DOCUMENTATION" for target in node.targets)
    ]
    assert "druidops.druid.connection" in yaml.safe_load(text)["extends_documentation_fragment"]


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.stem)
def test_every_module_is_in_the_action_group(module: Path) -> None:
    groups = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text(encoding="utf-8"))["action_groups"]
    assert f"druidops.druid.{module.stem}" in groups["druid"]


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.stem)
def test_every_module_is_in_the_matrix_of_the_system_tests(module: Path) -> None:
    matrix = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in MATRIX.iterdir()]
    specified = [value for case in matrix for value in (case, *case.values()) if isinstance(value, dict)]
    # export changes a file, not Druid: test_export.py
    assert module.stem in {"export", *(value.get("module") for value in specified)}
