# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which files, settings and variables make a run one of our own playbooks, exactly as shipped."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.build.runner import shipped

COLLECTION = Path(__file__).parents[3]
PLAYBOOK = "playbooks/operator_druid.yml"
ROLE = "roles/druid_cluster"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of what is compared."""
    for name in shipped.files(COLLECTION):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(COLLECTION / name, tmp_path / name)
    return tmp_path


def test_digests_are_those_of_the_files() -> None:
    """If this fails: make docs."""
    assert shipped.problem(COLLECTION) == ""


def test_playbooks_roles_and_actions_are_compared() -> None:
    names = {*shipped.DIGESTS}
    assert {PLAYBOOK, f"{ROLE}/tasks/reconcile.yml", f"{ROLE}/defaults/main.yml", "plugins/action/cluster.py"} <= names
    assert len([name for name in names if name.startswith("playbooks/")]) == 4


@pytest.mark.parametrize(
    "added",
    [
        "playbooks/group_vars/all.yml",
        "playbooks/host_vars/localhost.yml",
        "playbooks/roles/druid_cluster/tasks/main.yml",
        f"{ROLE}/vars/main.yml",
        f"{ROLE}/library/cluster.py",
        "plugins/action/debug.py",
    ],
)
def test_added_file_is_named(root: Path, added: str) -> None:
    (root / added).parent.mkdir(parents=True, exist_ok=True)
    (root / added).write_text("{}")
    assert shipped.problem(root) == f"{added} is not part of the collection"


@pytest.mark.parametrize("added", ["playbooks/group_vars", f"{ROLE}/vars", f"{ROLE}/tasks/more.yml"])
@pytest.mark.parametrize("target", [".", "nothing"])
def test_added_link_is_named(root: Path, added: str, target: str) -> None:
    """A derived image may link what is mounted."""
    (root / added).symlink_to(target)
    assert shipped.problem(root) == f"{added} is not part of the collection"


def test_linked_file_is_compared(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    moved = (root / PLAYBOOK).rename(tmp_path_factory.mktemp("mounted") / "playbook")
    (root / PLAYBOOK).symlink_to(moved)
    assert shipped.problem(root) == ""
    moved.unlink()
    assert shipped.problem(root) == f"{PLAYBOOK} is not that of the collection"


@pytest.mark.parametrize(
    "name", [PLAYBOOK, f"{ROLE}/tasks/reconcile.yml", f"{ROLE}/defaults/main.yml", "meta/runtime.yml"]
)
def test_changed_or_missing_file_is_named(root: Path, name: str) -> None:
    (root / name).write_text((root / name).read_text() + "# changed\n")
    assert shipped.problem(root) == f"{name} is not that of the collection"
    (root / name).unlink()
    assert shipped.problem(root) == f"{name} is not that of the collection"


@pytest.mark.parametrize("added", ["playbooks/of_others.yml", f"{ROLE}/NOTES.md"])
def test_other_playbooks_and_documents_do_not_count(root: Path, added: str) -> None:
    (root / added).write_text("{}")
    assert shipped.problem(root) == ""


@pytest.mark.parametrize(
    ("name", "is_other"),
    [
        ("PATH", False),
        ("ANSIBLE_STDOUT_CALLBACK", False),
        ("ANSIBLE_VERBOSITY_DRUID_DRUID_APACHE_ORG", False),
        ("ANSIBLE_DEBUG_LOGS", False),
        ("ANSIBLE_INVENTORY", True),
        ("ANSIBLE_ROLES_PATH", True),
        ("ANSIBLE_CALLBACKS_ENABLED", True),
    ],
)
def test_settings_of_ansible_are_those_of_the_image(name: str, is_other: bool) -> None:
    assert shipped.other_settings({name: "x"}) == (f"{name} is set" if is_other else "")


def test_settings_in_a_file_are_those_of_the_image(tmp_path: Path) -> None:
    file = tmp_path / "ansible.cfg"
    of_image = (COLLECTION / "build" / "ansible.cfg").read_text(encoding="utf-8")
    file.write_text(of_image.replace("/opt/ansible", str(tmp_path)))
    environment = {"ANSIBLE_CONFIG": str(file)}
    assert shipped.other_settings(environment) == ""
    file.write_text(f"{file.read_text()}vars_plugins_enabled = all\n")
    assert shipped.other_settings(environment) == f"{file} has other settings"
    file.unlink()
    assert shipped.other_settings(environment) == f"{file} has other settings"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The directory of a run, as ansible-operator writes it."""
    (tmp_path / "env").mkdir()
    (tmp_path / "inventory").mkdir()
    hosts = "localhost ansible_connection=local ansible_python_interpreter={{ansible_playbook_python}}"
    (tmp_path / "inventory" / "hosts").write_text(hosts)
    return tmp_path


def test_files_of_a_run_are_those_of_ansible_operator(run: Path) -> None:
    assert shipped.other_files(str(run)) == ""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("inventory/hosts", "localhost ansible_connection=local\nother"),
        ("inventory/group_vars", ""),
        ("env/cmdline", "--tags a"),
        ("env/passwords", "{}"),
    ],
)
def test_any_other_file_of_a_run_counts(run: Path, name: str, content: str) -> None:
    (run / name).write_text(content)
    assert str(run) in shipped.other_files(str(run))


def test_any_difference_is_a_change(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("A = 1\n")
    found = shipped.state(str(file))
    assert shipped.state(str(file)) == found
    os.utime(file, (1, 1))
    assert shipped.state(str(file)) != found
    file.unlink()
    assert shipped.state(str(file)) == (0, 0)
