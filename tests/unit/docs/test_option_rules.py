# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All modules have the same shape of options and results. CONTRIBUTING.md describes the rules."""

from __future__ import annotations

import copy
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import UNKNOWN_FIELDS
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import DOCUMENTS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.info import CLUSTER_INFO
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import COLLECTOR
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.lookup import LOOKUP
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS, CONSTRAINTS

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = "ansible_collections.druidops.druid.plugins"
Options = Mapping[str, Any]
Problems = Iterator[str]


@dataclass
class Module:
    """What a user sees of a module: its options, and its documentation with that of its own fragments.

    ``constraints``: the arguments of AnsibleModule other than the options. ``managing``: the module for which this one
    returns information, if it has one.
    """

    name: str
    arguments: dict[str, Any]
    documentation: dict[str, Any]
    returned: dict[str, Any] = field(default_factory=dict)
    constraints: dict[str, Any] = field(default_factory=dict)
    managing: Module | None = None

    @property
    def is_info(self) -> bool:
        return self.name.endswith("_info")

    @property
    def connects_to_druid(self) -> bool:
        """True if the module uses Druid's API; the actions connect to Kubernetes."""
        return "connect_timeout" in self.arguments

    @property
    def is_query(self) -> bool:
        return self.name == "query"

    @property
    def is_of_druid_itself(self) -> bool:
        return self.name == "druid_info"

    @property
    def is_export(self) -> bool:
        """True if the module writes a file, and reads Druid only."""
        return self.name == "export"

    @property
    def manages_druid(self) -> bool:
        """True if the module changes something over Druid's API."""
        return self.connects_to_druid and not (self.is_info or self.is_query or self.is_export)

    @property
    def many(self) -> str | None:
        """The option for a list of things."""
        return next((name for name, option in self.arguments.items() if option.get("options")), None)

    @property
    def identity(self) -> str | None:
        """The option that identifies the thing; a dynamic configuration exists once in a Druid, and has none."""
        return next((name for name in ("id", "datasource", "server") if name in self.arguments), None)

    @property
    def entries(self) -> tuple[str, Options]:
        """The key of the list in the result, and the documentation of its entries."""
        lists = ((name, each.get("contains", {})) for name, each in self.returned.items() if each["type"] == "list")
        return next(((name, contains) for name, contains in lists if contains), ("", {}))

    def described(self, option: str) -> str:
        """The description of an option."""
        description = self.documentation["options"][option]["description"]
        return description if isinstance(description, str) else " ".join(description)


# The rules. Each yields what is wrong.


def one_or_many(module: Module) -> Problems:
    if not module.manages_druid or module.identity is None:
        return
    if module.many is None:
        yield "there is no list of items"
        return
    exclusive = {
        name for names in module.constraints.get("mutually_exclusive", ()) for name in names if module.many in names
    }
    single = {name: module.arguments[name] for name in [*module.arguments] if name in exclusive - {module.many}}
    items = {name: option for name, option in module.arguments[module.many]["options"].items() if name != "state"}
    for name in sorted(single.keys() | items.keys()):
        if single.get(name) != items.get(name):
            yield f"{name} is not the same in an item of {module.many}, and exclusive with {module.many}"
    if module.identity not in items:
        yield f"an item of {module.many} has no {module.identity}"
    if "required_one_of" in module.constraints:
        yield "Ansible would report required_one_of before an option with a typing error"
    if not module.many.endswith("s"):
        yield f"{module.many} is not a plural"


def state(module: Module) -> Problems:
    if not module.manages_druid:
        return
    specified = module.arguments.get("state")
    if specified is None:
        if "cannot be removed" not in " ".join(module.documentation["description"]):
            yield "without it, the description must say that the thing cannot be removed"
        return
    choices, default = OTHER_STATES.get(module.name, (["present", "absent"], "present"))
    if (specified.get("choices"), specified.get("default")) != (choices, default):
        yield f"must be {' or '.join(choices)}, and {default} by default"
    items = module.arguments[module.many]["options"].get("state", {}) if module.many else {}
    if module.many and (items.get("choices"), items.get("default")) != (choices, None):
        yield f"of an item of {module.many} must be {' or '.join(choices)}, and by default that of the module"


# Of segments, which Druid creates; each of these returns, hides or loses data, so none is the default.
OTHER_STATES: dict[str, tuple[list[str], str | None]] = {
    "datasource": (["used", "unused", "deleted"], None),
    # of servers, which are not created either
    "worker": (["enabled", "disabled"], None),
    "historical": (["redundant", "decommissioned", "active"], None),
}


def text_or_structure(module: Module) -> Problems:
    if module.is_info:
        return
    for place, name, option in all_options(module.arguments):
        is_structure = "dict" in (option["type"], option.get("elements")) and not option.get("options")
        if is_structure or (name in DOCUMENTS and option["type"] != "raw"):
            yield f"{place} must be of type raw, and its text be parsed by document_of"
        if is_structure and name not in DOCUMENTS:
            yield f"{place} is not in DOCUMENTS of _operations/documents.py"
        if name in DOCUMENTS and module.connects_to_druid and not option.get("no_log"):
            yield f"{place} must have no_log: it may contain secrets"
        if name in DOCUMENTS and name == place and "JSON or YAML string" not in module.described(name):
            yield f"the description of {place} does not say that it may be a JSON or YAML string"


def results(module: Module) -> Problems:
    if not module.manages_druid:
        return
    key, entry = module.entries
    expected = (module.many or "") if module.identity else "configs"
    if key != expected or module.returned[key].get("returned") != "always":
        yield f"must be always a list {expected}, as the option of that name"
        return
    for name in (module.identity or "id", "changed", "failed", "msg"):
        if name not in entry:
            yield f"an entry of {key} has no {name}"
    if "top level" not in " ".join(module.returned[key]["description"]):
        yield f"the description of {key} does not say when the fields of an entry are also at the top level"


def info(module: Module) -> Problems:
    if not module.is_info or module.is_of_druid_itself:
        return
    key, entry = module.entries
    if list(module.returned) != [key]:
        yield "must return one list, and nothing else"
        return
    if module.managing is None or not module.managing.manages_druid:
        return
    managed, identity = module.managing.entries[0], module.managing.identity or "id"
    if key != managed:
        yield f"must return {managed}, as {module.managing.name}, not {key}"
    for place, names in (("filter", module.arguments), ("field of an entry", entry)):
        if identity not in names:
            yield f"must have a {place} {identity}, as {module.managing.name}"


def queries(module: Module) -> Problems:
    if not module.is_query:
        return
    yield from (f"has the option {name}" for name in ("state", "wait") if name in module.arguments)
    if module.many:
        yield f"has the list of items {module.many}"
    if module.returned.get("rows", {}).get("type") != "list":
        yield "must return the list rows"
    if module.documentation["attributes"]["diff_mode"].get("support") != "N/A":
        yield "must not have a diff: it changes nothing"
    if not module.arguments["query"].get("no_log"):
        yield "query must have no_log: it may contain secrets"


def wait(module: Module) -> Problems:
    found = {name: option for name, option in module.arguments.items() if name in ("wait", "wait_timeout")}
    if len(found) == 1:
        yield "wait and wait_timeout belong together"
    if "wait" in found and (found["wait"]["type"], found["wait"].get("default")) != ("bool", False):
        yield "wait must be a boolean, and false by default"


def common_names(module: Module) -> Problems:
    for name, alias in ALIASES.items():
        if name in module.arguments and alias not in module.arguments[name].get("aliases", ()):
            yield f"{name} must have the alias {alias}"
    for name in module.arguments:
        if name.endswith("timeout") and "seconds" not in module.described(name):
            yield f"the description of {name} does not say that it is in seconds"


# What other collections call these options: ansible.builtin.uri, and most modules for HTTP.
ALIASES = {
    "username": "url_username",
    "password": "url_password",
    "ca_path": "ca_cert",
    "read_timeout": "timeout",
}


def names(module: Module) -> Problems:
    found = {name for _place, name, _option in all_options(module.arguments)} | {*module.entries[1]}
    for name in sorted(found):
        if name in OTHER_NAMES:
            yield f"{name} must be {OTHER_NAMES[name]}"
        elif not (re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or name in DRUIDS_OWN):
            yield f"{name} must be lower case, with underscores"
    if module.manages_druid and module.identity == "datasource" and "id" in found:
        yield "id and datasource name the same thing"


# Documents whose fields Druid has classes for; the others are free mappings.
_WITH_FIELDS = frozenset({"spec", "config", "rules", "kubernetes_task_runner"})


def unknown_fields(module: Module) -> Problems:
    specified = module.arguments.get("unknown_fields")
    if (
        module.manages_druid
        and _WITH_FIELDS & module.arguments.keys()
        and specified != UNKNOWN_FIELDS["unknown_fields"]
    ):
        yield "there is no option unknown_fields (UNKNOWN_FIELDS), but a document"


OTHER_NAMES = {
    **dict.fromkeys(("supervisor_id", "task_id", "query_id", "lookup_id", "config_id"), "id"),
    **dict.fromkeys(("data_source", "dataSource", "datasource_name"), "datasource"),
    **dict.fromkeys(("ensure", "desired_state"), "state"),
}
# In the status of a task, which is returned as it is.
DRUIDS_OWN = ("statusCode",)


def attributes(module: Module) -> Problems:
    for name in ("check_mode", "diff_mode", "idempotent"):
        if "support" not in module.documentation.get("attributes", {}).get(name, {}):
            yield f"the support of {name} is not documented"


RULES: dict[str, Callable[[Module], Problems]] = {
    "one or many": one_or_many,
    "state": state,
    "text or structure": text_or_structure,
    "results": results,
    "info modules": info,
    "queries": queries,
    "wait": wait,
    "common names": common_names,
    "names": names,
    "attributes": attributes,
    "unknown fields": unknown_fields,
}


def broken_rules(module: Module) -> list[str]:
    """Return the rules that a module breaks, each with what is wrong."""
    return [f"{name}: {problem}" for name, rule in RULES.items() for problem in rule(module)]


def all_options(arguments: Options) -> Iterator[tuple[str, str, Options]]:
    """Yield the place, the name and the specification of the options, and of those of items."""
    for name, option in arguments.items():
        yield name, name, option
        for item, itself in option.get("options", {}).items():
            yield f"{name}[].{item}", item, itself


# The modules.

ACTIONS: dict[str, tuple[Options, Options]] = {
    "cluster": ({**ARGUMENTS, **DRUID.arguments}, CONSTRAINTS),
    "cluster_info": (CLUSTER_INFO, {}),
    "ingestion": ({**ARGUMENTS, **INGESTION.arguments}, CONSTRAINTS),
    "collector": ({**ARGUMENTS, **COLLECTOR.arguments}, CONSTRAINTS),
    "druid_object": ({**ARGUMENTS, **LOOKUP.arguments}, CONSTRAINTS),
    "requeue_after": ({"seconds": {"type": "int", "required": True}}, {}),
}
NAMES = sorted(file.stem for file in (ROOT / "plugins" / "modules").glob("*.py"))


class Recorded(Exception):
    """The arguments of AnsibleModule."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        super().__init__()
        self.arguments = arguments


def record(**arguments: Any) -> NoReturn:
    raise Recorded(arguments)


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> Module:
    """Return a module with its options, as its function main passes them to AnsibleModule."""
    code = importlib.import_module(f"{PACKAGE}.modules.{name}")
    documentation = yaml.safe_load(code.DOCUMENTATION)
    for fragment in documentation.get("extends_documentation_fragment", ()):
        if fragment.startswith("druidops.druid."):
            documentation = merged(fragment_of(fragment), documentation)
    returned = yaml.safe_load(code.RETURN)
    if name in ACTIONS:
        arguments, constraints = ACTIONS[name]
        return Module(name, dict(arguments), documentation, returned, dict(constraints))
    monkeypatch.setattr(code, "AnsibleModule", record)
    with pytest.raises(Recorded) as recorded:
        code.main()
    constraints = recorded.value.arguments
    module = Module(name, constraints["argument_spec"], documentation, returned, constraints)
    managing = name.removesuffix("_info")
    if module.is_info and managing in NAMES:
        module.managing = load(managing, monkeypatch)
    return module


def fragment_of(name: str) -> dict[str, Any]:
    fragment, _point, part = name.removeprefix("druidops.druid.").partition(".")
    code = importlib.import_module(f"{PACKAGE}.doc_fragments.{fragment}").ModuleDocFragment
    found: dict[str, Any] = yaml.safe_load(getattr(code, part.upper() or "DOCUMENTATION"))
    return found


def merged(below: Any, above: Any) -> Any:
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return below | {name: merged(below.get(name), value) for name, value in above.items()}


@pytest.mark.parametrize("name", NAMES)
def test_module_follows_the_rules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken_rules(load(name, monkeypatch)) == []


def test_rules_are_in_the_document_for_contributors() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## Options and results of modules")[2].partition("\n## ")[0]
    assert re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE) == ["rule", *RULES]


# A module that follows the rules, and what breaks each of them.

DOCUMENT = {"type": "raw", "no_log": True}
STATE = {"type": "str", "choices": ["present", "absent"]}
SUPPORTED = {name: {"support": "full"} for name in ("check_mode", "diff_mode", "idempotent")}


def lookup() -> Module:
    single: dict[str, Any] = {"id": {"type": "str"}, "spec": DOCUMENT}
    arguments = {
        "connect_timeout": {"type": "float"},
        "read_timeout": {"type": "float", "aliases": ["timeout"]},
        "username": {"type": "str", "aliases": ["url_username"]},
        **single,
        "state": {**STATE, "default": "present"},
        "lookups": {"type": "list", "elements": "dict", "options": {**single, "state": STATE}},
        "wait": {"type": "bool", "default": False},
        "wait_timeout": {"type": "float"},
        **UNKNOWN_FIELDS,
    }
    options = {name: {"description": "A JSON or YAML string, or seconds."} for name in arguments}
    entry = {name: {"type": "str"} for name in ("id", "changed", "failed", "msg")}
    description = ["The results. If there is one, also at the top level."]
    returned = {"lookups": {"type": "list", "returned": "always", "description": description, "contains": entry}}
    constraints = {
        "mutually_exclusive": [("lookups", "id"), ("lookups", "spec")],
    }
    documentation = {"description": ["Manages lookups."], "options": options, "attributes": SUPPORTED}
    return copy.deepcopy(Module("lookup", arguments, documentation, returned, constraints))


def lookup_info() -> Module:
    managing = lookup()
    entry = {"id": {"type": "str"}}
    returned = {"lookups": {"type": "list", "contains": entry}}
    arguments = {name: managing.arguments[name] for name in ("connect_timeout", "id")}
    return Module("lookup_info", arguments, managing.documentation, returned, managing=managing)


@pytest.mark.parametrize("module", [lookup(), lookup_info()], ids=lambda module: module.name)
def test_right_module_breaks_no_rule(module: Module) -> None:
    assert broken_rules(module) == []


def with_document(module: Module, name: str, option: Options) -> None:
    module.arguments[name] = option
    module.documentation["options"][name] = {"description": "A JSON or YAML string."}


# What is done to the module, and the rules that it breaks then.
VIOLATIONS: list[tuple[Callable[[Module], Any], list[str]]] = [
    (
        lambda module: module.arguments.pop("lookups"),
        ["one or many: there is no list of items", "results: must be always a list , as the option of that name"],
    ),
    (
        lambda module: module.arguments["lookups"]["options"].pop("spec"),
        ["one or many: spec is not the same in an item of lookups, and exclusive with lookups"],
    ),
    (
        lambda module: module.arguments["lookups"]["options"].update(tier={"type": "str"}),
        ["one or many: tier is not the same in an item of lookups, and exclusive with lookups"],
    ),
    (
        lambda module: module.constraints["mutually_exclusive"].pop(),
        ["one or many: spec is not the same in an item of lookups, and exclusive with lookups"],
    ),
    (
        lambda module: module.constraints.update(required_one_of=[("id", "lookups")]),
        ["one or many: Ansible would report required_one_of before an option with a typing error"],
    ),
    (
        lambda module: module.arguments.pop("state"),
        ["state: without it, the description must say that the thing cannot be removed"],
    ),
    (
        lambda module: module.arguments["state"].update(choices=["absent", "started"]),
        ["state: must be present or absent, and present by default"],
    ),
    (
        lambda module: module.arguments["lookups"]["options"]["state"].update(default="present"),
        ["state: of an item of lookups must be present or absent, and by default that of the module"],
    ),
    (
        lambda module: (
            module.arguments.update(context={"type": "dict", "no_log": True}, spec_file={"type": "path"})
            or with_document(module, "context", {"type": "dict", "no_log": True})
        ),
        ["text or structure: context must be of type raw, and its text be parsed by document_of"],
    ),
    (
        lambda module: with_document(module, "mappings", {"type": "list", "elements": "dict"}),
        [
            "text or structure: mappings must be of type raw, and its text be parsed by document_of",
            "text or structure: mappings is not in DOCUMENTS of _operations/documents.py",
        ],
    ),
    (
        lambda module: with_document(module, "config", {"type": "raw"}),
        ["text or structure: config must have no_log: it may contain secrets"],
    ),
    (
        lambda module: module.documentation["options"]["spec"].update(description="A mapping."),
        ["text or structure: the description of spec does not say that it may be a JSON or YAML string"],
    ),
    (
        lambda module: module.returned.update(lookup=module.returned.pop("lookups")),
        ["results: must be always a list lookups, as the option of that name"],
    ),
    (
        lambda module: module.returned["lookups"]["contains"].pop("changed"),
        ["results: an entry of lookups has no changed"],
    ),
    (
        lambda module: module.returned["lookups"].update(description=["The results."]),
        ["results: the description of lookups does not say when the fields of an entry are also at the top level"],
    ),
    (lambda module: module.arguments.pop("wait_timeout"), ["wait: wait and wait_timeout belong together"]),
    (
        lambda module: module.arguments["wait"].update(default=True),
        ["wait: wait must be a boolean, and false by default"],
    ),
    (
        lambda module: module.arguments["read_timeout"].pop("aliases"),
        ["common names: read_timeout must have the alias timeout"],
    ),
    (
        lambda module: module.arguments["username"].update(aliases=["user"]),
        ["common names: username must have the alias url_username"],
    ),
    (
        lambda module: module.documentation["options"]["wait_timeout"].update(description="How long to wait."),
        ["common names: the description of wait_timeout does not say that it is in seconds"],
    ),
    (lambda module: module.arguments.update(task_id={"type": "str"}), ["names: task_id must be id"]),
    (
        lambda module: module.arguments.update(maxTasks={"type": "int"}),
        ["names: maxTasks must be lower case, with underscores"],
    ),
    (
        lambda module: module.returned["lookups"]["contains"].update(dataSource={"type": "str"}),
        ["names: dataSource must be datasource"],
    ),
    (
        lambda module: module.documentation["attributes"].pop("idempotent"),
        ["attributes: the support of idempotent is not documented"],
    ),
    (
        lambda module: module.arguments.pop("unknown_fields"),
        ["unknown fields: there is no option unknown_fields (UNKNOWN_FIELDS), but a document"],
    ),
]


@pytest.mark.parametrize(("violate", "expected"), VIOLATIONS)
def test_violation_is_reported_with_the_name_of_the_rule(violate: Callable[[Module], Any], expected: list[str]) -> None:
    module = lookup()
    violate(module)
    assert broken_rules(module) == expected


VIOLATIONS_OF_INFO: list[tuple[Callable[[Module], Any], list[str]]] = [
    (
        lambda module: module.returned.update(lookup=module.returned.pop("lookups")),
        ["info modules: must return lookups, as lookup, not lookup"],
    ),
    (
        lambda module: module.returned.update(count={"type": "int"}),
        ["info modules: must return one list, and nothing else"],
    ),
    (
        lambda module: module.arguments.update(lookup=module.arguments.pop("id")),
        ["info modules: must have a filter id, as lookup"],
    ),
    (
        lambda module: module.returned["lookups"]["contains"].update(
            name=module.returned["lookups"]["contains"].pop("id")
        ),
        ["info modules: must have a field of an entry id, as lookup"],
    ),
]


@pytest.mark.parametrize(("violate", "expected"), VIOLATIONS_OF_INFO)
def test_violation_of_an_info_module_is_reported(violate: Callable[[Module], Any], expected: list[str]) -> None:
    module = copy.deepcopy(lookup_info())
    violate(module)
    assert broken_rules(module) == expected


def query() -> Module:
    arguments = {"connect_timeout": {"type": "float"}, "query": {"type": "str", "no_log": True}}
    options = {"connect_timeout": {"description": "In seconds."}}
    attributes = {**SUPPORTED, "diff_mode": {"support": "N/A"}}
    return copy.deepcopy(
        Module("query", arguments, {"options": options, "attributes": attributes}, {"rows": {"type": "list"}})
    )


VIOLATIONS_OF_QUERY: list[tuple[Callable[[Module], Any], str]] = [
    (lambda module: module.arguments.update(state=STATE), "queries: has the option state"),
    (
        lambda module: module.arguments.update(queries={"type": "list", "options": {"query": {"type": "str"}}}),
        "queries: has the list of items queries",
    ),
    (lambda module: module.returned.pop("rows"), "queries: must return the list rows"),
    (
        lambda module: module.documentation["attributes"]["diff_mode"].update(support="full"),
        "queries: must not have a diff: it changes nothing",
    ),
    (
        lambda module: module.arguments["query"].update(no_log=False),
        "queries: query must have no_log: it may contain secrets",
    ),
]


@pytest.mark.parametrize(("violate", "expected"), VIOLATIONS_OF_QUERY)
def test_violation_of_a_query_is_reported(violate: Callable[[Module], Any], expected: str) -> None:
    module = query()
    assert broken_rules(module) == []
    violate(module)
    assert broken_rules(module) == [expected]


def test_datasource_is_not_also_an_id() -> None:
    module = lookup()
    module.arguments["datasource"] = module.arguments.pop("id")
    module.arguments["lookups"]["options"]["datasource"] = module.arguments["lookups"]["options"].pop("id")
    module.constraints["mutually_exclusive"][0] = ("lookups", "datasource")
    module.returned["lookups"]["contains"]["datasource"] = {"type": "str"}
    assert broken_rules(module) == ["names: id and datasource name the same thing"]


def test_every_rule_has_a_violation() -> None:
    expected = [text for _violate, texts in [*VIOLATIONS, *VIOLATIONS_OF_INFO] for text in texts]
    expected += [text for _violate, text in VIOLATIONS_OF_QUERY]
    assert {text.partition(":")[0] for text in expected} == RULES.keys()
