# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Import and load what each run needs, so that a run only forks. Nothing is connected, and nothing is run.

The program `warm-runner`: it warms up, and becomes the resident process.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator, Mapping

from . import kubernetes_models, same_start

# What ansible-runner sets for ansible-playbook, and Ansible reads when it is imported.
_CALLBACK = "awx_display"
_COLLECTION = "ansible_collections.druidops.druid"
_ACTIONS = ("cluster", "collector", "ingestion", "requeue_after")


def main() -> None:
    """Warm up, and serve."""
    os.umask(0o077)
    os.chdir("/")
    environment = dict(os.environb)
    for name in same_start.OF_RUNS:
        os.environb.pop(name, None)
    warm_up()
    # it imports Ansible, which reads its settings from the environment then
    from . import resident

    resident.serve(environment)


def warm_up() -> None:
    """Import Ansible and the collection, and fill the caches of plugin loaders. Errors of imports are not handled."""
    os.environ.update(settings(os.environ))
    kubernetes_models.leave_out()
    from ansible.plugins import loader

    loader.init_plugin_loader()
    from . import warm_caches

    warm_caches.list_directories_once()
    _load_plugins()
    for each in _modules():
        importlib.import_module(each)
    rehearsal = importlib.import_module(f"{__package__}.rehearsal")
    rehearsal.rehearse()
    warm_caches.resolve_names_of_jinja()
    _template()
    _compile_patterns()
    warm_caches.fill()
    warm_caches.parse_yaml_fast()
    _forget_warnings()


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that ansible-runner sets for each run, as far as Ansible reads them when it is imported."""
    from ansible_runner.config._base import get_callback_dir

    own = environment.get("ANSIBLE_CALLBACK_PLUGINS")
    original = environment.get("ANSIBLE_STDOUT_CALLBACK")
    return {
        **({"ORIGINAL_STDOUT_CALLBACK": original} if original else {}),
        "ANSIBLE_STDOUT_CALLBACK": _CALLBACK,
        "ANSIBLE_CALLBACK_PLUGINS": ":".join(filter(None, (own, get_callback_dir()))),
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_HOST_KEY_CHECKING": environment.get("ANSIBLE_HOST_KEY_CHECKING", "False"),
    }


def _load_plugins() -> None:
    """Load the classes of the plugins that Ansible itself loads in each run, with their documentation."""
    from ansible.plugins import loader

    for each in ("become", "cache", "callback", "connection", "inventory", "shell", "strategy", "vars"):
        list(getattr(loader, f"{each}_loader").all(class_only=True))
    for each in ("filter", "test"):
        list(getattr(loader, f"{each}_loader").all())
    for name in _ACTIONS:
        loader.action_loader.get(f"druidops.druid.{name}", class_only=True)
    loader.lookup_loader.get("ansible.builtin.env", class_only=True)


def _modules() -> Iterator[str]:
    """All modules of the action plugins: some are only imported in a function."""
    for part in ("plugin_utils", "module_utils"):
        package = importlib.import_module(f"{_COLLECTION}.plugins.{part}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield found.name
    yield from (f"{__package__}.{each}" for each in ("in_process", "ordinary_runner", "step_aside"))


def _template() -> None:
    """Have Jinja compile a template once."""
    from ansible.parsing.dataloader import DataLoader
    from ansible.template import Templar

    Templar(DataLoader(), variables={}).template("{{ [none] | map('default', 1, true) | list }}")


def _compile_patterns() -> None:
    """Have the regular expressions of a run compiled: those of the command line, of the inventory, and of results."""
    from ansible.cli.playbook import PlaybookCLI
    from ansible.plugins import loader
    from ansible.vars.clean import clean_facts

    PlaybookCLI(["ansible-playbook"]).init_parser()
    loader.inventory_loader.get("ini")._compile_patterns()
    clean_facts({})


def _forget_warnings() -> None:
    """Ansible prints each warning once: a run has to print those that the resident process has seen."""
    from ansible.utils.display import Display

    for name in ("_warns", "_deprecations", "_errors"):
        getattr(Display(), name, {}).clear()
