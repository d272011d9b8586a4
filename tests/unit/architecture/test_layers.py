# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Imports point in one direction, so that each package can be understood, tested and replaced without those above."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
COLLECTION = "ansible_collections.druidops.druid."


class Package(NamedTuple):
    """A part of plugins/, what of ours it may import besides itself, and what of others it must not."""

    path: str
    may_import: tuple[str, ...]
    never: tuple[str, ...] = ()


DRUID = "plugins.module_utils."
KUBERNETES = "plugins.plugin_utils."

HTTP = ("kubernetes", "requests", "urllib3")
PURE_PYTHON = ("ansible", *HTTP)
# At the bottom: errors, and how text and structure are read.
ERRORS = f"{DRUID}_values.errors"
USERINFO = f"{DRUID}_values.userinfo"
WAIT = f"{DRUID}_resources.wait"
SERDE = f"{DRUID}_serde"
VALUES = tuple(f"{DRUID}_values.{part}" for part in ("errors", "nested_json", "parse", "text"))
# What a secret is, and where it is in a text.
SECRET = f"{DRUID}_secrets.secret"
# The steps of a request and its response are ordered: each imports only those before it.
TRANSPORT = (
    *(f"{DRUID}_http.{part}" for part in ("address", "connection", "deadline", "errors", "own_host")),
    *(f"{DRUID}_http.{part}" for part in ("request", "time_limit")),
)
REDIRECT = tuple(
    f"{DRUID}_http.{part}" for part in ("address", "connection", "error_message", "errors", "request", "transport")
)
RESPONSE = (
    *REDIRECT,
    *(f"{DRUID}_http.{part}" for part in ("redirect", "rejected_field", "retry", "shapes")),
    f"{DRUID}_secrets.spec_masking",
)
CLIENT = (
    *(f"{DRUID}_http.{part}" for part in ("address", "connection", "error_message", "errors", "redirect", "request")),
    *(f"{DRUID}_http.{part}" for part in ("response", "retry", "shapes", "transport")),
    ERRORS,
)
# Users of the client import it and its errors, not its parts.
CLIENT_ITSELF = (f"{DRUID}_http.client", f"{DRUID}_http.errors", ERRORS)
# Not specific to Druid's API, and needed on both sides.
SHARED = (
    *(f"{DRUID}_secrets.{part}" for part in ("masking", "secret")),
    *(f"{DRUID}_values.{part}" for part in ("clock", "nested_json", "parse", "userinfo")),
)

# What is asked about Druid, and what follows from the answers: for a Druid on Kubernetes, and for any other. Pure.
DECISIONS = tuple(f"{DRUID}_resources.{part}" for part in ("decommissioning", "handoff", "health", "questions"))

# The one write that a step shares with a module.
CONFIG_LIST = f"{DRUID}_resources.config_list"

# How a resource reaches Druid; no kind is known there.
DRUID_API = f"{COLLECTION}{KUBERNETES}_druid_api"
# The common base of both kinds, from the API up.
PLAIN, API, METRICS, RECONCILE = (
    f"{KUBERNETES}{package}" for package in ("_values", "_kubernetes", "_metrics", "_reconcile")
)
# A finding, a step and the reader: the only parts of a reconcile that `_druid_api` imports.
FINDINGS = tuple(f"{RECONCILE}.{part}" for part in ("findings", "plan", "reads", "reasons"))
FOUNDATION = (PLAIN, API, METRICS, RECONCILE, f"{KUBERNETES}_druid_api")

# The first package whose path matches a file is its package. A path without .py is a directory.
PACKAGES = (
    # Text and structure: pure, and at the bottom.
    Package("plugins/module_utils/_values/errors.py", (USERINFO,), PURE_PYTHON),
    Package("plugins/module_utils/_values/clock.py", (), PURE_PYTHON),
    Package("plugins/module_utils/_values/nested_json.py", (), PURE_PYTHON),
    Package("plugins/module_utils/_values/parse.py", (ERRORS, f"{DRUID}_values.nested_json"), PURE_PYTHON),
    Package("plugins/module_utils/_values/userinfo.py", (), PURE_PYTHON),
    Package("plugins/module_utils/_values", (), PURE_PYTHON),
    # Secrets: in any text, in any structure, and in specifications.
    Package("plugins/module_utils/_secrets/secret.py", (), PURE_PYTHON),
    Package("plugins/module_utils/_secrets/masking.py", (SECRET,), PURE_PYTHON),
    Package("plugins/module_utils/_secrets", (f"{DRUID}_values.nested_json",), PURE_PYTHON),
    # How Druid reads and returns JSON, by class: pure.
    Package("plugins/module_utils/_serde", (), PURE_PYTHON),
    # What specifications mean: pure.
    Package("plugins/module_utils/_spec", (*VALUES, SERDE), PURE_PYTHON),
    # The client: values and decisions, which send nothing, and the one part that sends.
    Package("plugins/module_utils/_http/errors.py", (f"{DRUID}_http.request", ERRORS), PURE_PYTHON),
    Package("plugins/module_utils/_http/retry.py", (), PURE_PYTHON),
    Package("plugins/module_utils/_http/address.py", (SECRET, ERRORS), PURE_PYTHON),
    Package(
        "plugins/module_utils/_http/connection.py",
        (f"{DRUID}_http.address", f"{DRUID}_http.time_limit", ERRORS),
        PURE_PYTHON,
    ),
    Package("plugins/module_utils/_http/time_limit.py", (), PURE_PYTHON),
    Package("plugins/module_utils/_http/permissions.py", (f"{DRUID}_values.nested_json",), PURE_PYTHON),
    Package(
        "plugins/module_utils/_http/error_message.py",
        tuple(f"{DRUID}_http.{part}" for part in ("connection", "permissions", "request", "shapes")),
        PURE_PYTHON,
    ),
    Package("plugins/module_utils/_http/shapes.py", (f"{DRUID}_values.nested_json",), PURE_PYTHON),
    Package("plugins/module_utils/_http/rejected_field.py", (f"{DRUID}_values.text",), PURE_PYTHON),
    Package("plugins/module_utils/_http/request.py", (ERRORS,), PURE_PYTHON),
    Package("plugins/module_utils/_http/deadline.py", (), ("ansible", "kubernetes")),
    Package("plugins/module_utils/_http/own_host.py", (), PURE_PYTHON),
    Package("plugins/module_utils/_http/transport.py", TRANSPORT, ("ansible", "kubernetes")),
    Package("plugins/module_utils/_http/redirect.py", REDIRECT, PURE_PYTHON),
    Package("plugins/module_utils/_http/response.py", RESPONSE, PURE_PYTHON),
    Package("plugins/module_utils/_http/client.py", CLIENT, PURE_PYTHON),
    Package("plugins/module_utils/_http", (), PURE_PYTHON),
    # A small class per Druid resource.
    Package("plugins/module_utils/_resources/wait.py", (f"{DRUID}_values.clock", ERRORS), PURE_PYTHON),
    Package(
        "plugins/module_utils/_resources/document.py",
        (f"{DRUID}_spec", f"{DRUID}_secrets.spec_masking", f"{DRUID}_values.nested_json", *CLIENT_ITSELF, WAIT),
        PURE_PYTHON,
    ),
    Package(
        "plugins/module_utils/_resources/supervisor_start.py",
        (f"{DRUID}_resources.wait", f"{DRUID}_values.clock", *CLIENT_ITSELF),
        PURE_PYTHON,
    ),
    Package(
        "plugins/module_utils/_resources",
        (f"{DRUID}_spec", f"{DRUID}_values.nested_json", *CLIENT_ITSELF),
        PURE_PYTHON,
    ),
    # What a module does with its options. Two files know Ansible: what the options are, and how a module ends.
    Package("plugins/module_utils/_operations/argspec.py", (), HTTP),
    Package(
        "plugins/module_utils/_operations/module.py",
        (*CLIENT_ITSELF, f"{DRUID}_secrets.spec_masking", f"{DRUID}_operations.documents"),
        HTTP,
    ),
    Package(
        "plugins/module_utils/_operations/converge.py",
        (f"{DRUID}_resources", f"{DRUID}_spec", f"{DRUID}_secrets.spec_masking", ERRORS),
        PURE_PYTHON,
    ),
    Package(
        "plugins/module_utils/_operations",
        (
            *(f"{DRUID}_resources", f"{DRUID}_spec", f"{DRUID}_secrets.spec_masking", f"{DRUID}_values.parse"),
            *CLIENT_ITSELF,
        ),
        PURE_PYTHON,
    ),
    # A module is documentation plus one call.
    Package("plugins/modules", (f"{DRUID}_operations",), HTTP),
    # The Kubernetes side knows nothing of Ansible. Its packages are layers, too: values, the API, metrics, the
    # reconcile, Druid's API, and the two kinds.
    Package("plugins/plugin_utils/_values", (), ("ansible", *HTTP)),
    Package("plugins/plugin_utils/_kubernetes", (PLAIN, *SHARED), ("ansible", "requests")),
    Package("plugins/plugin_utils/_metrics", (PLAIN, API), ("ansible", "kubernetes", "requests")),
    # What the actions share, and the only code in here that knows Ansible.
    Package(
        "plugins/plugin_utils/_reconcile/action.py",
        (PLAIN, API, METRICS, RECONCILE, USERINFO, f"{DRUID}_values.clock"),
        HTTP,
    ),
    Package("plugins/plugin_utils/_reconcile", (PLAIN, API, METRICS, *SHARED, ERRORS), ("ansible", *HTTP)),
    Package("plugins/plugin_utils/_druid_api", (PLAIN, API, METRICS, *FINDINGS, DRUID), ("ansible", *HTTP)),
    Package("plugins/plugin_utils/_cluster", (*FOUNDATION, *SHARED, *DECISIONS, CONFIG_LIST), ("ansible", *HTTP)),
    # A cluster has a name, and a router.
    Package(
        "plugins/plugin_utils/_druid_object",
        (*FOUNDATION, f"{KUBERNETES}_cluster.names", f"{KUBERNETES}_cluster.router", DRUID),
        ("ansible", *HTTP),
    ),
    # An ingestion describes something in a Druid, too.
    Package(
        "plugins/plugin_utils/_ingestion",
        (
            *FOUNDATION,
            *(f"{KUBERNETES}_druid_object.{part}" for part in ("options", "reads", "resource", "state")),
            DRUID,
        ),
        ("ansible", *HTTP),
    ),
    # A cluster has a label on its pods.
    Package(
        "plugins/plugin_utils/_collector",
        (*FOUNDATION, *SHARED, *VALUES, f"{DRUID}_http.time_limit"),
        ("ansible", *HTTP),
    ),
    # Actions are thin, and the only code here that Ansible calls.
    Package(
        "plugins/action",
        (KUBERNETES, f"{DRUID}_operations.documents", f"{DRUID}_secrets.spec_masking", "plugins.doc_fragments."),
        ("kubernetes", "requests", "urllib3"),
    ),
    Package("plugins/doc_fragments", (), ("kubernetes",)),
)

# Inside a kind: what decides is pure. It knows the values that were observed, but neither the API nor those who act.
# So is all that is loaded with it, such as the steps: they get the API when they are carried out.
PURE = (
    "plugins/plugin_utils/_cluster/decide",
    "plugins/plugin_utils/_cluster/rollout",
    "plugins/plugin_utils/_cluster/features",
    "plugins/plugin_utils/_cluster/render",
    *(f"plugins/plugin_utils/_cluster/{name}.py" for name in ("claims", "delete/order", "plan_output", "status")),
    *(f"plugins/module_utils/_resources/{name}.py" for name in ("decommissioning", "handoff", "health", "questions")),
    "plugins/plugin_utils/_values",
    *(
        f"plugins/plugin_utils/_reconcile/{name}.py"
        for name in ("conditions", "findings", "masking", "plan", "resource")
    ),
    *(f"plugins/plugin_utils/_druid_api/{name}.py" for name in ("change", "request", "target")),
    *(f"plugins/plugin_utils/_druid_object/{name}.py" for name in ("decide", "resource", "state", "status", "steps")),
    *(
        f"plugins/plugin_utils/_ingestion/{name}.py"
        for name in (
            *("batch", "decide", "decide_deletion", "last_applied", "owners", "record_check", "spec", "state"),
            *("status",),
        )
    ),
    *(
        f"plugins/plugin_utils/_collector/{name}.py"
        for name in (*("decide", "decision", "release", "scope", "spec", "state", "status"),)
    ),
)
IMPURE = (
    "kubernetes",
    "requests",
    "socket",
    "subprocess",
    "time",
    "urllib3",
    f"{COLLECTION}{API}.api",
    f"{COLLECTION}{API}.connection",
    f"{DRUID_API}.calls",
    f"{DRUID_API}.connection",
    *(
        f"{COLLECTION}{KUBERNETES}_cluster.{name}"
        for name in (*("delete.deletion", "druid_connection", "info", "kind", "options", "reads", "reconcile"),)
    ),
    *(f"{COLLECTION}{KUBERNETES}_druid_object.{name}" for name in ("kind", "options", "reads", "reconcile")),
    *(f"{COLLECTION}{KUBERNETES}_ingestion.{name}" for name in ("options", "reads", "reconcile")),
    *(f"{COLLECTION}{KUBERNETES}_collector.{name}" for name in ("drift", "helm", "reads", "reconcile")),
    *(f"{COLLECTION}{KUBERNETES}_reconcile.{name}" for name in ("action", "report")),
    f"{COLLECTION}{API}.cache",
    f"{COLLECTION}{DRUID}_http.client",
)


def files() -> list[str]:
    """Return every Python file of the collection's plugins."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "plugins").rglob("*.py"))


def is_in(file: str, path: str) -> bool:
    """Return whether the file is the path or below it."""
    return file == path or file.startswith(f"{path}/")


def package_of(file: str) -> Package:
    """Return the package that a file belongs to."""
    found = [package for package in PACKAGES if is_in(file, package.path)]
    assert found, f"{file} is in no package of PACKAGES: add one for it, with what it may import"
    return found[0]


def source_of(file: str) -> str:
    """Return the text of a file."""
    return (ROOT / file).read_text(encoding="utf-8")


def imports(file: str, source: str) -> Iterator[str]:
    """Yield the full name of everything that a file with this source imports, at any depth."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{absolute(file, node)}.{alias.name}" for alias in node.names)


def absolute(file: str, node: ast.ImportFrom) -> str:
    """Return the module named by a from-import, a relative one resolved."""
    if not node.level:
        return node.module or ""
    package = Path(file).parts[: -node.level]
    return ".".join([COLLECTION.rstrip("."), *package, *([node.module] if node.module else [])])


def is_one_of(name: str, modules: tuple[str, ...]) -> bool:
    """Return whether the imported name is one of the modules or something in them."""
    return any(f"{name}.".startswith(module.rstrip(".") + ".") for module in modules)


def forbidden(file: str, source: str) -> list[str]:
    """Return the imports that leave the file's package in the wrong direction."""
    package = package_of(file)
    itself = package.path.removesuffix(".py").replace("/", ".")
    allowed = tuple(COLLECTION + module for module in (itself, *package.may_import))
    return [
        name
        for name in imports(file, source)
        if (name.startswith(COLLECTION) and not is_one_of(name, allowed)) or is_one_of(name, package.never)
    ]


def needed(file: str, source: str) -> list[str]:
    """Return the imports, without those for types only; of a step, without those of the functions that carry it out."""
    body = _Deciding().visit(ast.parse(source)).body
    kinds = (ast.Import, ast.ImportFrom) if "/steps" in file else ast.stmt
    kept = (node for node in body if isinstance(node, kinds) and not ast.unparse(node).startswith("if TYPE_CHECKING"))
    return [*imports(file, "\n".join(map(ast.unparse, kept)))]


class _Deciding(ast.NodeTransformer):
    """Leaves out how a request to Druid is sent, the method `send` of a step: a decision does not call it."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name == "send" and node.args.args[0].arg == "self":
            node.body = [ast.Pass()]
        return node


def loaded(roots: Iterable[str]) -> list[str]:
    """Return the files, and all others of the collection that are loaded with them."""
    known, found, waiting = frozenset(files()), set[str](), [*roots]
    while waiting:
        file = waiting.pop()
        if file in known and file not in found:
            found.add(file)
            waiting += (path for name in needed(file, source_of(file)) for path in _paths(name))
    return sorted(found)


def _paths(name: str) -> Iterator[str]:
    """Yield the files that a name or what it is imported from may be."""
    path = name.removeprefix(COLLECTION).replace(".", "/")
    for module in (path, path.rpartition("/")[0]):
        yield from (f"{module}.py", f"{module}/__init__.py")


def impure(file: str, source: str) -> list[str]:
    """Return the imports that make a decision impure."""
    return [name for name in needed(file, source) if is_one_of(name, IMPURE)]


DECIDING = [file for file in files() if any(is_in(file, path) for path in PURE)]
LOADED = loaded(DECIDING)


@pytest.mark.parametrize("file", files())
def test_imports_only_allowed_packages(file: str) -> None:
    assert forbidden(file, source_of(file)) == []


@pytest.mark.parametrize("file", sorted({*DECIDING, *LOADED}))
def test_deciding_is_pure(file: str) -> None:
    assert impure(file, source_of(file)) == []


def test_a_decision_loads_the_steps() -> None:
    steps = [file for file in files() if "/_cluster/steps/" in file and not file.endswith("/__init__.py")]
    steps.append("plugins/plugin_utils/_ingestion/steps.py")
    assert {*steps} <= {*LOADED}


# The names of parameters and variables that hold a step.
STEP_NAMES = ("step", "steps", "failed", "candidate")


def asked_types(source: str) -> list[str]:
    """Return the types that isinstance or type() is asked about a step."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    named = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("isinstance", "type"))
    return [
        ast.unparse(call) for call in named if call.args and ast.unparse(call.args[0]).rpartition(".")[2] in STEP_NAMES
    ]


def unit_tests() -> list[str]:
    """Return every Python file of the unit tests."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/unit").rglob("*.py"))


@pytest.mark.parametrize("file", [*files(), *unit_tests()])
def test_a_step_answers_for_itself(file: str) -> None:
    """No code asks for the type of a step, and no test: what depends on it is a method."""
    assert asked_types(source_of(file)) == []


@pytest.mark.parametrize("source", ["isinstance(step, Apply)", "type(result.step) is Apply"])
def test_detects_a_question_for_the_type_of_a_step(source: str) -> None:
    assert len(asked_types(source)) == 1


FEATURES = "plugins/plugin_utils/_cluster/features"
FEATURES_MODULE = f"{COLLECTION}{KUBERNETES}_cluster.features"


def feature_of(name: str) -> str:
    """Return the feature that a module belongs to, empty if it is outside of them."""
    return name.removeprefix(f"{FEATURES_MODULE}.").split(".")[0] if name.startswith(f"{FEATURES_MODULE}.") else ""


def foreign_features(file: str, source: str) -> list[str]:
    """Return what a file of a feature imports of other features, at any depth."""
    own = {file.removeprefix(f"{FEATURES}/").split("/")[0].removesuffix(".py"), "feature", ""}
    return [name for name in imports(file, source) if feature_of(name) not in own]


def inside_of_features(file: str, source: str) -> list[str]:
    """Return what a file outside of the features imports of them, besides their list and their base class."""
    return [name for name in imports(file, source) if feature_of(name) not in ("", "feature", "FEATURES")]


def used_modules(file: str, known: frozenset[str]) -> Iterator[str]:
    """Yield those of the known files that are loaded with a file, without those that only type checkers read."""
    for node in ast.parse(source_of(file)).body:
        if isinstance(node, ast.ImportFrom):
            for name in (absolute(file, node), *imports(file, ast.unparse(node))):
                path = name.removeprefix(COLLECTION).replace(".", "/")
                yield from known & {f"{path}.py", f"{path}/__init__.py"}


def test_a_reconcile_of_a_cluster_loads_the_client_of_druid_only_if_it_needs_druid() -> None:
    """Most reconciles need nothing of Druid."""
    known, loaded_files = frozenset(files()), set[str]()
    waiting = {"plugins/plugin_utils/_cluster/reconcile.py", "plugins/plugin_utils/_cluster/kind.py"}
    while waiting:
        loaded_files |= waiting
        waiting = {used for file in waiting for used in used_modules(file, known)} - loaded_files
    assert "plugins/plugin_utils/_cluster/reads.py" in loaded_files
    assert "plugins/module_utils/_http/client.py" not in loaded_files


FILES_OF_FEATURES = tuple(file for file in files() if is_in(file, FEATURES) and file != f"{FEATURES}/__init__.py")


@pytest.mark.parametrize("file", FILES_OF_FEATURES)
def test_a_feature_knows_no_other_one(file: str) -> None:
    assert foreign_features(file, source_of(file)) == []


@pytest.mark.parametrize(
    "source",
    [
        f"from {FEATURES_MODULE}.storage.size_limits import shrinking_claims",
        f"from {FEATURES_MODULE}.storage import Storage",
    ],
)
def test_detects_a_feature_that_knows_another_one(source: str) -> None:
    assert len(foreign_features(f"{FEATURES}/quotas.py", source)) == 1


@pytest.mark.parametrize("file", [file for file in files() if not is_in(file, FEATURES)])
def test_features_are_known_by_their_hooks_only(file: str) -> None:
    assert inside_of_features(file, source_of(file)) == []


@pytest.mark.parametrize(
    ("source", "number"),
    [
        (f"from {FEATURES_MODULE}.storage.size_limits import shrinking_claims", 1),
        (f"from {FEATURES_MODULE}.storage import Storage", 1),
        (f"def later():\n    from {FEATURES_MODULE} import storage", 1),
        (f"from {FEATURES_MODULE} import FEATURES\nfrom {FEATURES_MODULE}.feature import Feature", 0),
    ],
)
def test_detects_the_inside_of_a_feature(source: str, number: int) -> None:
    assert len(inside_of_features("plugins/plugin_utils/_cluster/x.py", source)) == number


def test_what_features_use_knows_none_of_them() -> None:
    """Otherwise the list could not be imported: it imports the features, and they what they use."""
    known = frozenset(file for file in files() if is_in(file, "plugins/plugin_utils/_cluster"))
    left, used = {*FILES_OF_FEATURES}, set[str]()
    while left:
        used |= left
        left = {each for file in left for each in used_modules(file, known)} - used
    outside = [file for file in used if not is_in(file, FEATURES)]
    assert {file for file in outside for name in used_modules(file, known) if is_in(name, FEATURES)} == set()
    assert len(outside) > 20


def test_http_is_only_in_its_packages() -> None:
    """No file is outside of the packages, where no rule would apply to it."""
    assert [path.name for path in (ROOT / "plugins/module_utils").glob("*.py")] == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("plugins/plugin_utils/_cluster/x.py", "from ansible.module_utils.basic import AnsibleModule"),
        ("plugins/plugin_utils/_cluster/x.py", "def later():\n    import ansible.errors"),
        ("plugins/plugin_utils/_cluster/x.py", f"from {COLLECTION}plugins.module_utils._http import client"),
        ("plugins/plugin_utils/_cluster/x.py", "from ...module_utils._http import client"),
        ("plugins/plugin_utils/_cluster/x.py", f"from {COLLECTION}plugins.plugin_utils import _ingestion"),
        ("plugins/plugin_utils/_ingestion/x.py", f"from {COLLECTION}plugins.plugin_utils._cluster import reconcile"),
        ("plugins/plugin_utils/_druid_api/x.py", f"from {COLLECTION}plugins.plugin_utils import _cluster"),
        ("plugins/plugin_utils/_druid_api/x.py", f"from {COLLECTION}plugins.plugin_utils._reconcile import run"),
        ("plugins/plugin_utils/_reconcile/x.py", f"from {COLLECTION}plugins.plugin_utils import _cluster"),
        ("plugins/plugin_utils/_reconcile/x.py", f"from {COLLECTION}plugins.plugin_utils import _druid_api"),
        ("plugins/plugin_utils/_reconcile/x.py", "from ansible.plugins.action import ActionBase"),
        ("plugins/plugin_utils/_metrics/x.py", f"from {COLLECTION}plugins.plugin_utils._reconcile import run"),
        ("plugins/plugin_utils/_kubernetes/x.py", f"from {COLLECTION}plugins.plugin_utils._reconcile import run"),
        ("plugins/plugin_utils/_values/x.py", f"from {COLLECTION}plugins.plugin_utils._kubernetes import api"),
        ("plugins/plugin_utils/_kubernetes/compare.py", f"from {COLLECTION}plugins.plugin_utils import _druid_api"),
        ("plugins/plugin_utils/_kubernetes/compare.py", f"import {COLLECTION}plugins.plugin_utils._cluster.names"),
        ("plugins/module_utils/_http/client.py", "from kubernetes import config"),
        ("plugins/module_utils/_http/client.py", "import requests"),
        ("plugins/module_utils/_http/client.py", f"from {COLLECTION}plugins.module_utils._spec.merge import merge"),
        ("plugins/module_utils/_http/x.py", f"from {COLLECTION}plugins.module_utils._resources import task"),
        ("plugins/module_utils/_values/x.py", f"from {COLLECTION}plugins.module_utils._secrets import masking"),
        ("plugins/module_utils/_secrets/x.py", f"from {COLLECTION}plugins.module_utils._spec import supervisor"),
        ("plugins/module_utils/_spec/x.py", f"from {COLLECTION}plugins.module_utils._http.address import path"),
        ("plugins/module_utils/_spec/x.py", f"from {COLLECTION}plugins.module_utils._secrets import masking"),
        ("plugins/module_utils/_resources/x.py", f"from {COLLECTION}plugins.module_utils._operations import converge"),
        ("plugins/module_utils/_resources/x.py", f"from {COLLECTION}plugins.module_utils._http import transport"),
        ("plugins/module_utils/_operations/x.py", f"from {COLLECTION}plugins.module_utils._http import transport"),
        ("plugins/module_utils/_operations/x.py", "from ansible.module_utils.basic import AnsibleModule"),
        ("plugins/modules/x.py", "import requests"),
        ("plugins/modules/x.py", f"from {COLLECTION}plugins.module_utils._http.client import DruidClient"),
        ("plugins/action/x.py", f"from {COLLECTION}plugins.module_utils._http import client"),
    ],
)
def test_detects_a_wrong_direction(file: str, source: str) -> None:
    assert len(forbidden(file, source)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("plugins/plugin_utils/_cluster/x.py", f"import {COLLECTION}plugins.plugin_utils._kubernetes.merge"),
        ("plugins/plugin_utils/_cluster/x.py", "from . import names"),
        ("plugins/plugin_utils/_cluster/x.py", f"from {COLLECTION}plugins.plugin_utils._druid_api import connection"),
        ("plugins/plugin_utils/_ingestion/x.py", f"from {COLLECTION}plugins.module_utils._http import client"),
        ("plugins/plugin_utils/_druid_object/x.py", f"from {COLLECTION}plugins.plugin_utils._cluster import router"),
        ("plugins/plugin_utils/_druid_api/x.py", f"from {COLLECTION}plugins.plugin_utils._reconcile import findings"),
        ("plugins/plugin_utils/_reconcile/action.py", "from ansible.plugins.action import ActionBase"),
        ("plugins/action/x.py", "from ansible.plugins.action import ActionBase"),
        ("plugins/action/x.py", f"from {COLLECTION}plugins.plugin_utils._cluster import reconcile"),
    ],
)
def test_accepts_the_right_direction(file: str, source: str) -> None:
    assert forbidden(file, source) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        f"from {COLLECTION}plugins.plugin_utils._cluster import reads",
        f"def decide():\n    from {COLLECTION}plugins.plugin_utils._cluster.reads import observe",
        f"from {COLLECTION}plugins.plugin_utils._kubernetes.api import KubernetesApi",
    ],
)
def test_detects_an_impure_decision(source: str) -> None:
    assert len(impure("plugins/plugin_utils/_cluster/decide/x.py", source)) == 1


def test_no_file_of_a_reconcile_has_more_than_400_lines() -> None:
    reconcile = (file for file in files() if file.startswith("plugins/plugin_utils/"))
    assert [file for file in reconcile if len((ROOT / file).read_text().splitlines()) > 400] == []
