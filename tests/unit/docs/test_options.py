# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an option is, is said in several places: the action, the module's documentation, the role, its README."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.arguments import CLUSTER
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.info import CLUSTER_INFO

ROOT = Path(__file__).resolve().parents[3]
ROLE = ROOT / "roles" / "druid_cluster"
PREFIX = "druid_cluster_"
# What the role does around the action.
ONLY_IN_THE_ROLE = {"install_crds", "show"}
# A role's variable always has a value: the empty one stands for an option that is not stated.
UNSTATED: Mapping[str, Any] = {"str": "", "raw": "", "dict": {}}


def essence(option: Mapping[str, Any]) -> dict[str, Any]:
    """What a program has to know of an option: no description."""
    facts = {name: option.get(name) for name in ("type", "elements", "choices", "default", "required")}
    return {**facts, "default": facts["default"] or None}


def documented(module: str) -> dict[str, Any]:
    """The options in a module's DOCUMENTATION."""
    tree = ast.parse((ROOT / "plugins" / "modules" / f"{module}.py").read_text(encoding="utf-8"))
    texts = {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    options: dict[str, Any] = yaml.safe_load(texts["DOCUMENTATION"])["options"]
    return options


def role_options() -> dict[str, Any]:
    specification = yaml.safe_load((ROLE / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))
    options: dict[str, Any] = specification["argument_specs"]["main"]["options"]
    return options


@pytest.mark.parametrize(("module", "options"), [("cluster", CLUSTER), ("cluster_info", CLUSTER_INFO)])
def test_the_module_documents_the_options_of_its_action(module: str, options: Mapping[str, Any]) -> None:
    expected = {name: essence(option) for name, option in options.items()}
    assert {name: essence(option) for name, option in documented(module).items()} == expected


def test_the_role_has_the_options_of_the_action() -> None:
    found = {name.removeprefix(PREFIX): essence(option) for name, option in role_options().items()}
    assert {name: option for name, option in found.items() if name not in ONLY_IN_THE_ROLE} == {
        name: essence(option) for name, option in CLUSTER.items()
    }
    assert found.keys() - CLUSTER.keys() == ONLY_IN_THE_ROLE


def test_an_option_that_is_not_stated_is_an_empty_variable() -> None:
    options = role_options()
    expected = {PREFIX + name: option.get("default", UNSTATED.get(option["type"])) for name, option in CLUSTER.items()}
    assert {name: options[name]["default"] for name in expected} == expected


def test_the_defaults_of_the_role_are_those_of_its_specification() -> None:
    defaults = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text(encoding="utf-8"))
    assert defaults == {name: option["default"] for name, option in role_options().items()}


def test_the_role_hands_every_option_to_the_action() -> None:
    tasks = yaml.safe_load((ROLE / "tasks" / "main.yml").read_text(encoding="utf-8"))
    steps = [step for task in tasks for step in task.get("block", [task])]
    [arguments] = [step["druidops.druid.cluster"] for step in steps if "druidops.druid.cluster" in step]
    assert arguments.keys() == CLUSTER.keys()
    for name, text in arguments.items():
        assert re.fullmatch(rf"{{{{ {PREFIX}{name}( or omit)? }}}}", text)
