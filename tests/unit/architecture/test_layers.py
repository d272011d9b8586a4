# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Imports point one way, so that each room can be understood, tested and replaced without the ones above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
COLLECTION = "ansible_collections.druidops.druid."


class Room(NamedTuple):
    """A part of plugins/, what of ours it may import besides itself, and what of others it must not."""

    path: str
    may_import: tuple[str, ...]
    never: tuple[str, ...] = ()


DRUID = "plugins.module_utils."
KUBERNETES = "plugins.plugin_utils."

HTTP = ("kubernetes", "requests", "urllib3")
CLIENT_ITSELF = (f"{DRUID}_client", f"{DRUID}_errors")
CLIENT = tuple(
    f"{DRUID}{part}"
    for part in ("_address", "_answer", "_connection", "_errors", "_patience", "_redirect", "_request", "_router")
)
TRANSPORT = tuple(f"{DRUID}{part}" for part in ("_address", "_connection", "_errors", "_no_answer", "_watch"))
# What the client does with a request and its answer is a line, too: each knows those before it.
REDIRECT = tuple(f"{DRUID}{part}" for part in ("_address", "_errors", "_hints", "_request", "_transport"))
ANSWER = (
    *REDIRECT,
    *(f"{DRUID}{part}" for part in ("_connection", "_patience", "_redirect", "_spec_masking", "_words")),
)
# What a secret is, and where it stands in a text.
SECRETS = (f"{DRUID}_secret", f"{DRUID}_secret_text")
# What is not about Druid's API alone, and is needed on both sides.
SHARED = (f"{DRUID}_depth", f"{DRUID}_masking", f"{DRUID}_secret", f"{DRUID}_yaml")
KINDS = (f"{COLLECTION}{KUBERNETES}_cluster", f"{COLLECTION}{KUBERNETES}_ingestion")

# What a kind says to Druid and hears from it; no kind is known there.
SPEAKING = f"{COLLECTION}{KUBERNETES}_druid"

# The first room whose path fits a file is its room. A path without .py is a directory.
ROOMS = (
    # Druid over HTTP: a line from the module down to the errors, and no Kubernetes anywhere.
    Room("plugins/module_utils/_errors.py", (), ("ansible", *HTTP)),
    # What the client is made of: values and decisions, which send nothing, and the one part that sends.
    Room("plugins/module_utils/_words.py", (), ("ansible", *HTTP)),
    Room("plugins/module_utils/_patience.py", (), ("ansible", *HTTP)),
    Room("plugins/module_utils/_address.py", (*SECRETS, f"{DRUID}_errors"), ("ansible", *HTTP)),
    Room("plugins/module_utils/_connection.py", (f"{DRUID}_address", f"{DRUID}_errors"), ("ansible", *HTTP)),
    Room("plugins/module_utils/_hints.py", (f"{DRUID}_connection",), ("ansible", *HTTP)),
    Room("plugins/module_utils/_request.py", (f"{DRUID}_errors",), ("ansible", *HTTP)),
    Room("plugins/module_utils/_watch.py", (), ("ansible", "kubernetes")),
    Room("plugins/module_utils/_no_answer.py", (f"{DRUID}_connection", f"{DRUID}_errors"), ("ansible", "kubernetes")),
    Room("plugins/module_utils/_transport.py", TRANSPORT, ("ansible", "kubernetes")),
    Room("plugins/module_utils/_redirect.py", REDIRECT, ("ansible", *HTTP)),
    Room("plugins/module_utils/_answer.py", ANSWER, ("ansible", *HTTP)),
    Room("plugins/module_utils/_router.py", (*ANSWER, f"{DRUID}_answer"), ("ansible", *HTTP)),
    Room("plugins/module_utils/_client.py", (*CLIENT, f"{DRUID}_transport"), ("ansible", *HTTP)),
    Room("plugins/module_utils/_secret.py", (), ("ansible", *HTTP)),
    Room("plugins/module_utils/_secret_text.py", (f"{DRUID}_secret",), ("ansible", *HTTP)),
    Room("plugins/module_utils/_masking.py", SECRETS, ("ansible", *HTTP)),
    Room("plugins/module_utils/_depth.py", (), ("ansible", *HTTP)),
    # What specifications mean: pure.
    Room("plugins/module_utils/_yaml.py", (), ("ansible", *HTTP)),
    Room(
        "plugins/module_utils/_spec",
        (*SECRETS, f"{DRUID}_depth", f"{DRUID}_spec", f"{DRUID}_errors", f"{DRUID}_yaml"),
        ("ansible", *HTTP),
    ),
    # Where the two meet: the client hides in errors what a specification has in it.
    Room("plugins/module_utils/_spec_masking.py", (f"{DRUID}_masking", f"{DRUID}_spec"), ("ansible", *HTTP)),
    # Whoever uses the client knows it and its errors, not what it is made of.
    Room("plugins/module_utils/_wait.py", (f"{DRUID}_errors",), ("ansible", *HTTP)),
    Room("plugins/module_utils/_resources", (f"{DRUID}_spec", f"{DRUID}_wait", *CLIENT_ITSELF), ("ansible", *HTTP)),
    Room(
        "plugins/module_utils/_converge.py",
        (f"{DRUID}_resources", f"{DRUID}_spec", *CLIENT_ITSELF),
        ("ansible", *HTTP),
    ),
    Room("plugins/module_utils/_module.py", (DRUID,), HTTP),
    Room("plugins/module_utils", (DRUID,), HTTP),
    # A module is documentation plus one call.
    Room("plugins/modules", (DRUID,), ("kubernetes", "requests", "urllib3")),
    # The Kubernetes side knows nothing of Ansible. What it shares it does not take back from its kinds.
    Room("plugins/plugin_utils/_druid", (KUBERNETES, DRUID), ("ansible", *KINDS)),
    Room("plugins/plugin_utils/_cluster", (KUBERNETES, *SHARED), ("ansible", KINDS[1])),
    Room("plugins/plugin_utils/_ingestion", (KUBERNETES, DRUID), ("ansible",)),
    # What the actions share, and the only code in here that knows Ansible.
    Room("plugins/plugin_utils/_action.py", (KUBERNETES,), (*KINDS, SPEAKING)),
    Room("plugins/plugin_utils", (KUBERNETES, *SHARED), ("ansible", *KINDS, SPEAKING)),
    # Actions are thin, and the only code here that Ansible calls.
    Room("plugins/action", (KUBERNETES, "plugins.doc_fragments."), ("kubernetes", "requests", "urllib3")),
    Room("plugins/doc_fragments", (), ("kubernetes",)),
)

# Inside a kind: what decides is pure. It knows the values that were observed, but neither the API nor those who act.
PURE = (
    "plugins/plugin_utils/_cluster/render",
    "plugins/plugin_utils/_cluster/decide",
    "plugins/plugin_utils/_cluster/names.py",
    "plugins/plugin_utils/_cluster/plan.py",
    "plugins/plugin_utils/_cluster/router.py",
    "plugins/plugin_utils/_cluster/validate.py",
    "plugins/plugin_utils/_compare.py",
    "plugins/plugin_utils/_going.py",
    *(f"plugins/plugin_utils/_druid/{name}.py" for name in ("patience", "step", "trouble")),
    *(
        f"plugins/plugin_utils/_ingestion/{name}.py"
        for name in (
            *("batch", "decide", "names", "place", "plan", "reasons", "record", "seen", "siblings", "spec"),
            *("status", "supervision", "validate"),
        )
    ),
)
IMPURE = (
    "kubernetes",
    "requests",
    "socket",
    "subprocess",
    "time",
    "urllib3",
    f"{COLLECTION}{KUBERNETES}_connection",
    f"{COLLECTION}{KUBERNETES}_kubernetes.KubernetesApi",
    f"{COLLECTION}{KUBERNETES}_druid.access",
    f"{COLLECTION}{KUBERNETES}_druid.dynamic_config",
    f"{COLLECTION}{KUBERNETES}_cluster.act",
    f"{COLLECTION}{KUBERNETES}_cluster.in_druid",
    f"{COLLECTION}{KUBERNETES}_cluster.reconcile",
    f"{COLLECTION}{KUBERNETES}_ingestion.act",
    f"{COLLECTION}{KUBERNETES}_ingestion.ask",
    f"{COLLECTION}{KUBERNETES}_ingestion.reconcile",
    f"{COLLECTION}{DRUID}_client",
)


def files() -> list[str]:
    """Return every Python file of the collection's plugins."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "plugins").rglob("*.py"))


def is_in(file: str, path: str) -> bool:
    """Return whether the file is the path or below it."""
    return file == path or file.startswith(f"{path}/")


def room_of(file: str) -> Room:
    """Return the room that a file belongs to."""
    rooms = [room for room in ROOMS if is_in(file, room.path)]
    assert rooms, f"{file} is in no room: name one for it in ROOMS, with what it may import"
    return rooms[0]


def source_of(file: str) -> str:
    """Return the text of a file."""
    return (ROOT / file).read_text(encoding="utf-8")


def imports(file: str, source: str) -> Iterator[str]:
    """Yield the full name of everything that a file with this source imports, at whatever depth."""
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
    """Return the imports that point out of the file's room in the wrong direction."""
    room = room_of(file)
    itself = room.path.removesuffix(".py").replace("/", ".")
    allowed = tuple(COLLECTION + module for module in (itself, *room.may_import))
    return [
        name
        for name in imports(file, source)
        if (name.startswith(COLLECTION) and not is_one_of(name, allowed)) or is_one_of(name, room.never)
    ]


def impure(file: str, source: str) -> list[str]:
    """Return the imports by which a decision could touch the world."""
    return [name for name in imports(file, source) if is_one_of(name, IMPURE)]


@pytest.mark.parametrize("file", files())
def test_imports_only_what_its_room_may(file: str) -> None:
    assert forbidden(file, source_of(file)) == []


@pytest.mark.parametrize("file", [file for file in files() if any(is_in(file, path) for path in PURE)])
def test_deciding_touches_nothing(file: str) -> None:
    assert impure(file, source_of(file)) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("plugins/plugin_utils/_cluster/x.py", "from ansible.module_utils.basic import AnsibleModule"),
        ("plugins/plugin_utils/_cluster/x.py", "def later():\n    import ansible.errors"),
        ("plugins/plugin_utils/_cluster/x.py", f"from {COLLECTION}plugins.module_utils import _client"),
        ("plugins/plugin_utils/_cluster/x.py", "from ...module_utils import _client"),
        ("plugins/plugin_utils/_cluster/x.py", f"from {COLLECTION}plugins.plugin_utils import _ingestion"),
        ("plugins/plugin_utils/_druid/x.py", f"from {COLLECTION}plugins.plugin_utils import _cluster"),
        ("plugins/plugin_utils/_compare.py", f"from {COLLECTION}plugins.plugin_utils import _druid"),
        ("plugins/plugin_utils/_compare.py", f"import {COLLECTION}plugins.plugin_utils._cluster.names"),
        ("plugins/module_utils/_client.py", "from kubernetes import config"),
        ("plugins/module_utils/_client.py", "import requests"),
        ("plugins/module_utils/_client.py", f"from {COLLECTION}plugins.module_utils._converge import converge"),
        ("plugins/module_utils/_converge.py", f"from {COLLECTION}plugins.module_utils._transport import Transport"),
        ("plugins/module_utils/_resources/x.py", f"from {COLLECTION}plugins.module_utils._module import run"),
        ("plugins/modules/x.py", "import requests"),
        ("plugins/action/x.py", f"from {COLLECTION}plugins.module_utils import _client"),
    ],
)
def test_notices_a_wrong_direction(file: str, source: str) -> None:
    assert len(forbidden(file, source)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("plugins/plugin_utils/_cluster/x.py", "import ansible_collections.druidops.druid.plugins.plugin_utils._merge"),
        ("plugins/plugin_utils/_cluster/x.py", "from . import names"),
        ("plugins/plugin_utils/_cluster/x.py", f"from {COLLECTION}plugins.plugin_utils._druid import access"),
        ("plugins/plugin_utils/_ingestion/x.py", f"from {COLLECTION}plugins.module_utils import _client"),
        ("plugins/action/x.py", "from ansible.plugins.action import ActionBase"),
        ("plugins/action/x.py", f"from {COLLECTION}plugins.plugin_utils._cluster import reconcile"),
    ],
)
def test_lets_the_right_direction_pass(file: str, source: str) -> None:
    assert forbidden(file, source) == []


@pytest.mark.parametrize("source", ["import time", f"from {COLLECTION}plugins.plugin_utils._cluster import act"])
def test_notices_a_decision_that_touches_the_world(source: str) -> None:
    assert len(impure("plugins/plugin_utils/_cluster/decide/x.py", source)) == 1
