# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""With Ansible's collection loader, the modules that our actions import are compiled once, not in every run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COLLECTION = Path(__file__).parents[5]
OURS = "ansible_collections.druidops.druid.plugins"
# Imports an action as Ansible does, and prints the compiled files and all imported files of the collection.
PROGRAM = """
import builtins, importlib, json, sys
from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder

root, name = sys.argv[1:]
_AnsibleCollectionFinder(paths=[root], scan_sys_paths=False)._install()
compiled = []
sys.addaudithook(lambda event, arguments: compiled.append(str(arguments[1])) if event == "compile" else None)
importlib.import_module(name)
files = [str(module.__file__) for other, module in sys.modules.items() if other.startswith("{OURS}.")]
print(json.dumps([compiled, [file for file in files if file.endswith(".py")]]))
""".replace("{OURS}", OURS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the directory in which a copy of the collection is installed."""
    installed = tmp_path / "ansible_collections" / "druidops" / "druid"
    for name in ("plugins", "meta"):
        shutil.copytree(COLLECTION / name, installed / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def compiled(root: Path, action: str) -> tuple[set[str], set[str]]:
    """Import the action in a new process; return the compiled files, and all imported files of the collection."""
    omitted = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "ANSIBLE_")
    environment = {name: text for name, text in os.environ.items() if not name.startswith(omitted)}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(root), f"{OURS}.action.{action}"],
        env=environment,
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    found, files = json.loads(result.stdout)
    return set(found) & set(files), set(files)


@pytest.mark.parametrize("action", ["cluster", "cluster_info", "ingestion"])
def test_second_run_uses_the_bytecode_cache(root: Path, action: str) -> None:
    first, files = compiled(root, action)
    second, _files = compiled(root, action)

    assert first == files
    # Ansible compiles the action itself; the others are imported before the cache is active
    assert {Path(file).name for file in second} == {f"{action}.py", "__init__.py", "bytecode_cache.py"}


def test_changed_file_is_compiled_again(root: Path) -> None:
    compiled(root, "cluster")
    changed = root / "ansible_collections/druidops/druid/plugins/plugin_utils/_reconcile/report.py"
    changed.write_text(changed.read_text() + "\nCHANGED = True\n")

    assert str(changed) in compiled(root, "cluster")[0]


def test_read_only_directory_does_not_prevent_imports(root: Path) -> None:
    plugins = root / "ansible_collections/druidops/druid/plugins"
    for package in {file.parent for file in plugins.rglob("*.py")}:
        (package / "__pycache__").write_text("not a directory")

    first, files = compiled(root, "cluster_info")

    assert first == files
