# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An option is defined in several places: the action, the module's documentation, the role, its README."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.info import CLUSTER_INFO
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import COLLECTOR
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.lookup import LOOKUP
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS

ROOT = Path(__file__).resolve().parents[3]


class Role(NamedTuple):
    """A role, the action that it calls with the options that it has, and what it does around that."""

    name: str
    action: str
    options: Mapping[str, Any]
    own: set[str]

    @property
    def path(self) -> Path:
        return ROOT / "roles" / self.name

    @property
    def prefix(self) -> str:
        return f"{self.name}_"


# The operator's playbooks set the other one.
OF_ROLES = {name: option for name, option in ARGUMENTS.items() if name != "operator"}
ROLES = [
    Role("druid_cluster", "cluster", {**OF_ROLES, **DRUID.arguments}, {"install_crds", "print_result"}),
    Role("druid_ingestion", "ingestion", {**OF_ROLES, **INGESTION.arguments}, {"print_result"}),
    Role("druid_collector", "collector", {**OF_ROLES, **COLLECTOR.arguments}, {"print_result"}),
]
each_role = pytest.mark.parametrize("role", ROLES, ids=[role.name for role in ROLES])
# A role's variable always has a value: the empty one means that the option is not set.
UNSPECIFIED: Mapping[str, Any] = {"str": "", "raw": "", "dict": {}, "list": []}


def essence(option: Mapping[str, Any]) -> dict[str, Any]:
    """The machine-readable part of an option: no description."""
    facts = {name: option.get(name) for name in ("type", "elements", "choices", "default", "required")}
    return {**facts, "default": facts["default"] or None}


def texts_in(path: Path) -> dict[str, str]:
    """The texts that a file gives names to."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        target.id: ast.literal_eval(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def documented(module: str) -> dict[str, Any]:
    """The options in a module's DOCUMENTATION, those of our own fragments included."""
    document = yaml.safe_load(texts_in(ROOT / "plugins" / "modules" / f"{module}.py")["DOCUMENTATION"])
    options: dict[str, Any] = {}
    for name in document["extends_documentation_fragment"]:
        fragment, _point, part = name.removeprefix("druidops.druid.").partition(".")
        path = ROOT / "plugins" / "doc_fragments" / f"{fragment}.py"
        if name.startswith("druidops.druid."):
            options |= yaml.safe_load(texts_in(path)[part.upper() or "DOCUMENTATION"])["options"]
    return options | document["options"]


def role_options(role: Role) -> dict[str, Any]:
    specification = yaml.safe_load((role.path / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))
    options: dict[str, Any] = specification["argument_specs"]["main"]["options"]
    return options


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("cluster", {**ARGUMENTS, **DRUID.arguments}),
        ("cluster_info", CLUSTER_INFO),
        ("ingestion", {**ARGUMENTS, **INGESTION.arguments}),
        ("collector", {**ARGUMENTS, **COLLECTOR.arguments}),
        ("druid_object", {**ARGUMENTS, **LOOKUP.arguments}),
    ],
)
def test_the_module_documents_the_options_of_its_action(module: str, options: Mapping[str, Any]) -> None:
    expected = {name: (essence(option), option.get("aliases")) for name, option in options.items()}
    found = documented(module).items()
    assert {name: (essence(option), option.get("aliases")) for name, option in found} == expected


@each_role
def test_the_role_has_the_options_of_the_action(role: Role) -> None:
    found = {name.removeprefix(role.prefix): essence(option) for name, option in role_options(role).items()}
    assert {name: option for name, option in found.items() if name not in role.own} == {
        name: essence(option) for name, option in role.options.items()
    }
    assert found.keys() - role.options.keys() == role.own


@each_role
def test_unspecified_option_is_an_empty_variable(role: Role) -> None:
    found = role_options(role)
    expected = {name: option.get("default", UNSPECIFIED.get(option["type"])) for name, option in role.options.items()}
    assert {name: found[role.prefix + name]["default"] for name in expected} == expected


@each_role
def test_the_defaults_of_the_role_are_those_of_its_specification(role: Role) -> None:
    defaults = yaml.safe_load((role.path / "defaults" / "main.yml").read_text(encoding="utf-8"))
    assert defaults == {name: option["default"] for name, option in role_options(role).items()}


@each_role
def test_the_defaults_are_accepted(role: Role) -> None:
    """Ansible validates them as soon as the role is used without the collection's playbook."""
    limited = {name: option for name, option in role_options(role).items() if "choices" in option}
    assert limited
    assert {name for name, option in limited.items() if option["default"] not in option["choices"]} == set()


@each_role
def test_role_passes_every_option_to_the_action(role: Role) -> None:
    [task] = yaml.safe_load((role.path / "tasks" / "reconcile.yml").read_text(encoding="utf-8"))
    arguments = task[f"druidops.druid.{role.action}"]
    assert arguments.keys() == role.options.keys()
    for name, text in arguments.items():
        assert re.fullmatch(rf"{{{{ {role.prefix}{name}( or omit)? }}}}", text)
