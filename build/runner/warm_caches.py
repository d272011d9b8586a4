# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ansible would determine again in each run: parsed files of this collection, compiled templates, directories.

All of it follows from files of the image, and runs get a copy.
"""

from __future__ import annotations

import glob
import os
import pickle
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ansible_collections.druidops.druid as collection
import yaml
from ansible import template
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.plugins import loader
from ansible.template import Templar
from jinja2 import TemplateError
from jinja2.filters import FILTERS
from jinja2.tests import TESTS

from .changed_files import state

_PARTS = ("playbooks/*.yml", "roles/*/tasks/*.yml", "roles/*/defaults/*.yml", "roles/*/meta/*.yml")
_ENVIRONMENTS = ("AnsibleEnvironment", "AnsibleNativeEnvironment")
# Its filters and tests are those of Jinja and of plugins.
_PLUGINS_OF_JINJA = "JinjaPluginIntercept"
_CONDITIONS = frozenset({"when", "changed_when", "failed_when", "until"})
# Ansible evaluates a condition as this template. With another version, it is compiled in the run.
_CONDITION = "{%% set __cres = %s %%}{{ [true if __cres else false, __cres.__class__.__name__] }}"


# By real path: the state of the file, and its pickled content. Ansible copies the content whenever a file is read;
# to restore it takes an eighth of that time.
_PARSED: dict[str, tuple[tuple[int, int], bytes]] = {}


class _NotCalled:
    """Filters or tests that cannot be called: Jinja would evaluate those of constants when it compiles a template.

    Templates with those of other collections are compiled in the run, which loads them.
    """

    def __init__(self, plugins: Any) -> None:
        self._plugins = plugins

    def get(self, name: str) -> Any:
        """Return a function that Jinja passes the same arguments as the one of that name, None if there is none."""
        is_known = "." not in name or name.startswith("ansible.builtin.")
        found = self._plugins.get(name) if is_known else None
        if found is None:
            return None

        def refuse(*_arguments: Any, **_named: Any) -> Any:
            raise NotImplementedError(name)

        refuse.jinja_pass_arg = getattr(found, "jinja_pass_arg", None)  # type: ignore[attr-defined]
        return refuse


def _not_called(plugins: Any) -> Any:
    return _NotCalled(plugins)


def list_directories_once() -> None:
    """Have the loaders of plugins list each directory once."""

    @cache
    def listed(pattern: str) -> tuple[str, ...]:
        return tuple(glob.glob(pattern))

    plugins: Any = loader
    plugins.glob = SimpleNamespace(glob=lambda pattern: [*listed(pattern)], iglob=glob.iglob)


def resolve_names_of_jinja() -> None:
    """Have Ansible search its plugins once for Jinja's own filters and tests: each template searches for them again."""
    own = {
        loaded: frozenset(name for name in names if not _is_plugin(loaded, name))
        for loaded, names in ((loader.filter_loader, FILTERS), (loader.test_loader, TESTS))
    }
    kind: Any = getattr(template, _PLUGINS_OF_JINJA)
    initialize = kind.__init__

    def initialize_with_names(self: Any, known: Any, plugins: Any) -> None:
        initialize(self, known, plugins)
        self._seen_it |= own[plugins]

    kind.__init__ = initialize_with_names


def _is_plugin(plugins: Any, name: str) -> bool:
    """True for the name of a plugin, which has precedence."""
    with suppress(AnsibleError, KeyError):
        return plugins.get(name) is not None
    return False


def parse_yaml_fast() -> None:
    """Have the Kubernetes client parse kubeconfigs with libyaml: in Python, that takes a tenth of a run."""
    yaml.safe_load = lambda stream: yaml.load(stream, yaml.CSafeLoader)


def fill() -> None:
    """Parse the files of this collection, and compile their templates."""
    _compile_once()
    environment = Templar(DataLoader(), variables={}).environment
    environment.filters, environment.tests = map(_not_called, (environment.filters, environment.tests))
    for file in _files():
        path = os.path.realpath(file)
        # what is wrong is reported by the run
        with suppress(AnsibleError):
            before, content = state(path), DataLoader().load_from_file(path, unsafe=True)
            _PARSED[path] = before, pickle.dumps(content)
            for source in _templates(content):
                with suppress(TemplateError):
                    environment.compile(source)
    load = DataLoader.load_from_file

    def load_known(self: DataLoader, name: str, *arguments: Any, **options: Any) -> Any:
        # with an option, what is returned need not be a copy
        known = None if arguments or options else _parsed(self.path_dwim(name))
        return load(self, name, *arguments, **options) if known is None else known

    DataLoader.load_from_file = load_known  # type: ignore[method-assign,assignment]


def _parsed(name: str) -> Any:
    """Return the content of a file that has not changed since it was parsed; None for another one."""
    path = os.path.realpath(name)
    before, content = _PARSED.get(path, ((0, 0), b""))
    return pickle.loads(content) if content and state(path) == before else None


def _files() -> Iterator[Path]:
    for directory in collection.__path__:
        for part in _PARTS:
            yield from Path(directory).glob(part)


def _templates(content: Any, name: str = "") -> Iterator[str]:
    """Yield the templates in parsed YAML, as Ansible compiles them."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _templates(value, key)
    elif isinstance(content, list):
        for each in content:
            yield from _templates(each, name)
    elif isinstance(content, str) and name in _CONDITIONS:
        yield _CONDITION % content
    elif isinstance(content, str) and "{{" in content and "\\" not in content:
        yield content


def _compile_once() -> None:
    """Keep what is compiled; the environment of a template with its own delimiters is another one."""
    for kind in (getattr(template, name) for name in _ENVIRONMENTS):
        kind.compile = _compiled_once(kind.compile)


def _compiled_once(compile_template: Any) -> Any:
    known: dict[str, Any] = {}

    def compiled(self: Any, source: Any, *arguments: Any, **named: Any) -> Any:
        if arguments or named or self.overlayed or not isinstance(source, str):
            return compile_template(self, source, *arguments, **named)
        if source not in known:
            known[source] = compile_template(self, source)
        return known[source]

    return compiled
