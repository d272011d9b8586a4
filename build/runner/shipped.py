# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What our own playbooks, roles and settings are: a run of others is one of Ansible.

The digests are those of this collection; a derived image may have other files, or more of them.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

# `make docs` generates these: the SHA-256 of each file, and of the image's settings.
# BEGIN DIGESTS
DIGESTS: Mapping[str, str] = {
    "meta/runtime.yml": "274f978461dcdf18aec71de1c9aaa3690ab67b977474ea28ab5a33f4cca38458",
    "playbooks/operator_collector.yml": "18a1e489345c374bec3fd2fc2047d0fee25ab7264d88586bc9edb5c3fe73fc00",
    "playbooks/operator_druid.yml": "91d3681c89505a67f648f436ea04d2f4490500787989cb9da5645c490c9abc4f",
    "playbooks/operator_druid_ingestion.yml": "f36ff7491486bf06b52abc1196a873b715ae201a887266fedf18955bb719d964",
    "playbooks/operator_druid_object.yml": "9e81f30cc0d069b1fd732fc7e0a7b24a47421835fdc6af7577032bdf6b89296f",
    "plugins/action/cluster.py": "598b55a94c7f36967ebb01be6c2bad7c02b5782f1313d3793901569ee0d7e10b",
    "plugins/action/cluster_info.py": "a5204063421685c624e7180a902f2cc406fe0932e4ec5037c9ad8a53eb6acab7",
    "plugins/action/collector.py": "a600204c2d393c93eff336545121ffbf035edd047da57d01ee3a042a21a6fa28",
    "plugins/action/druid_object.py": "07f6309644324e515a6a4a1ecd79bbc8be43306ebfacd37490a7d034400a524a",
    "plugins/action/ingestion.py": "9cdde00a93eb7d0cb18b1d7eb9d37de20e6df4a8a2116e96428bf022cdffb8fe",
    "plugins/action/requeue_after.py": "20f77de7c8bc179e8a09185b7ef054a531131404a350ab0418499d989f1fc2e2",
    "plugins/action/supervisor.py": "229eaaa8348271e4407713e8a47a659def298158556379dc1c449bb0bbdbd922",
    "roles/druid_cluster/defaults/main.yml": "b3b9511a113cd6c383512eb742f1822d5df15cea8a0e63496d041d313d0919a3",
    "roles/druid_cluster/meta/argument_specs.yml": "88fe359d4f25f0c92f6ecdbe1364150afc1acde614e6031bc6313e4108fc86ce",
    "roles/druid_cluster/meta/main.yml": "797f553be56777872b9c5f00c5b3eb38db045af25643ac4351ce6fb6485c1f8e",
    "roles/druid_cluster/tasks/crds.yml": "260cd8996742d5836d06f7ee14c5cd99b17274432454b9b240b892290f2f012c",
    "roles/druid_cluster/tasks/main.yml": "9755ad8060180de6fafc24b034cff46520f6996d97ad888ea442bec8aeb8cd28",
    "roles/druid_cluster/tasks/reconcile.yml": "9b60e17bf0e7787d24f19db62cf1f808a0295daab712f975c43d7bea701b8493",
    "roles/druid_collector/defaults/main.yml": "ef3129bb0cc1390d018ef99358b3c69dc31ddf16257ad196a6e2b8c9df64a170",
    "roles/druid_collector/meta/argument_specs.yml": "527ab5e21605de2c7e5ad509b49f40e159a702ca80ac9487d074ecdd0945a414",
    "roles/druid_collector/meta/main.yml": "555cfd43d3d2beec26e287c58b0e90d1ee96dee9f39d798679d6bf8c2f54d381",
    "roles/druid_collector/tasks/main.yml": "3a7488f612d3cef4824e98c75b5742fa5a9d86589c763ae28f2492e3190e9432",
    "roles/druid_collector/tasks/reconcile.yml": "d13bb698988f407c37f3dd2c1964123eea212be53a4deae8f3f5ee18a6281063",
    "roles/druid_ingestion/defaults/main.yml": "8593ce8f08e8361680c5d56e957ac5124f58a85a13bce42e6f730394b1448d3b",
    "roles/druid_ingestion/meta/argument_specs.yml": "a7e5160a5fff954ab8521f45e5511fc3069da3e7e4b8fed1a3c3aa9f3289f8fe",
    "roles/druid_ingestion/meta/main.yml": "7837759e5e7b01fbc4739b2c0dd22cc1d47fb19ea46b6c84021e62c7c3cf8730",
    "roles/druid_ingestion/tasks/main.yml": "b57c00263c81ce00c1772ca26997f0da7af07a5077de47da4597b1bc5b0c8bed",
    "roles/druid_ingestion/tasks/reconcile.yml": "98895e80b3289df8759aa6bace41b9079205160968663cb68f5e6adb47d58d5a",
}
SETTINGS = "8a9cc5d06b6d8d31b528b86fdb75e37ebbe96e314d6c0ee56b647e1abaf371a2"
# END DIGESTS

OWN = frozenset(
    {"operator_druid.yml", "operator_druid_ingestion.yml", "operator_druid_object.yml", "operator_collector.yml"}
)
# Which action a task of them has.
_ROUTING = "meta/runtime.yml"
# What they consist of, and where Ansible finds more: variables, roles, plugins.
_PARTS = ("playbooks", "plugins/action", *(f"roles/druid_{each}" for each in ("cluster", "collector", "ingestion")))
# The variables of Ansible that the image or ansible-operator sets, and the one where the collection is found.
_KNOWN = re.compile("ANSIBLE_(CONFIG|COLLECTIONS_PATH|STDOUT_CALLBACK|DEBUG_LOGS|GATHERING|VERBOSITY_.*|OPERATOR_.*)")
_OF_OPERATOR = {"K8S_AUTH_KUBECONFIG", "KUBECONFIG"}
_INVENTORY = re.compile(r"localhost ansible_connection=local ansible_python_interpreter=\S+\s*")
_OURS = ("ansible_collections.druidops.", f"{__package__}.")
_ROOT = "/opt/ansible"
_ENCODING = "utf-8"


def directory() -> Path:
    """The directory of the collection that has been imported."""
    import ansible_collections.druidops.druid as collection

    return Path(next(iter(collection.__path__))).resolve()


def files(root: Path) -> Iterator[str]:
    """The files that a run of our playbooks depends on, but not the other playbooks, nor documents.

    Also symbolic links: what is in a linked directory is not searched.
    """
    for found in (root / _ROUTING, *(each for part in _PARTS for each in root.joinpath(part).rglob("*"))):
        is_playbook = found.parent == root / "playbooks" and found.suffix == ".yml"
        # tasks that one of the others includes
        is_other = (is_playbook and found.name not in OWN) or root / "playbooks" / "tasks" in found.parents
        if (found.is_file() or found.is_symlink()) and not is_other and found.suffix not in (".md", ".pyc"):
            yield found.relative_to(root).as_posix()


def digest(text: bytes) -> str:
    """The digest of a file."""
    return hashlib.sha256(text).hexdigest()


def problem(root: Path) -> str:
    """Why the files are not those of this collection; empty if they are."""
    found = {*files(root)}
    for name in sorted(found | DIGESTS.keys()):
        if name not in DIGESTS:
            return f"{name} is not part of the collection"
        if name not in found or not (root / name).is_file() or digest((root / name).read_bytes()) != DIGESTS[name]:
            return f"{name} is not that of the collection"
    return ""


def other_settings(environment: Mapping[str, str]) -> str:
    """Why Ansible has other settings than those of the image; empty if it has not."""
    for name in sorted(environment):
        if name.startswith("ANSIBLE_") and not _KNOWN.fullmatch(name):
            return f"{name} is set"
    file = environment.get("ANSIBLE_CONFIG")
    if file and digest(_settings(Path(file)).encode()) != SETTINGS:
        return f"{file} has other settings"
    return ""


def _settings(file: Path) -> str:
    """The text of the image's file, wherever it is."""
    with suppress(OSError):
        return file.read_text(encoding=_ENCODING).replace(str(file.parent), _ROOT)
    return ""


def is_own(playbook: str) -> bool:
    """True for one of our own playbooks, also by a link to it."""
    found = Path(playbook).resolve()
    return found.parent == directory() / "playbooks" and found.name in OWN


def other_files(run: str) -> str:
    """Why the files of a run have more than what ansible-operator writes for each; empty if they have not."""
    inventory = Path(run, "inventory")
    hosts = inventory / "hosts"
    if [*inventory.iterdir()] != [hosts] or not _INVENTORY.fullmatch(hosts.read_text(encoding=_ENCODING)):
        return f"{inventory} is another inventory"
    for name in ("cmdline", "passwords", "ssh_key"):
        file = Path(run, "env", name)
        if file.exists() and file.read_text(encoding=_ENCODING).strip():
            return f"{file} has content"
    return ""


class Files:
    """The files that have been imported or compared, when each was changed, and what is wrong with them (`problem`)."""

    def __init__(self) -> None:
        root = directory()
        self.problem = problem(root)
        modules = [sys.modules[name] for name in [*sys.modules] if name.startswith(_OURS)]
        imported = {str(file) for each in modules if (file := getattr(each, "__file__", None))}
        compared = {root / name for name in DIGESTS}
        places = {root / part for part in _PARTS} | {each.parent for each in compared}
        self._states = {file: state(file) for file in (*imported, *map(str, compared | places))}

    def are_changed(self) -> bool:
        """True if one of them has changed, or is not there any more."""
        return any(state(file) != before for file, before in self._states.items())


def state(file: str) -> tuple[int, int]:
    """What changes with a file: its time and size."""
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
