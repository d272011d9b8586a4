# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leave out what the Kubernetes client and requests import and no run uses: 1,050 modules, and a third of the memory.

Those are its classes for each API and type, its other clients, and the libraries for the logins of clouds: the
collection only uses the client's configuration, and sends its own requests, and ansible-operator's kubeconfig has no
such login. And the library with which requests guesses the encoding of a text: Druid's responses are decoded as UTF-8.
Other playbooks run in processes of their own, with the whole client.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# Each with the modules in it.
_LEFT_OUT = (
    "kubernetes.client.api.",
    "kubernetes.client.models.",
    "kubernetes.dynamic.",
    "kubernetes.stream.",
    "google.auth.",
    "google.oauth2.",
    "oauthlib.",
    "requests_oauthlib.",
    "charset_normalizer.",
)


def leave_out() -> None:
    """Have the client import nothing but names of these modules from now on."""
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder, Loader):
    """Finds these modules, and reads nothing."""

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Return an empty module for one of these classes or libraries."""
        return ModuleSpec(name, self, is_package=True) if f"{name}.".startswith(_LEFT_OUT) else None

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        """Return the one module that stands for all of them."""
        return _MODULE

    def exec_module(self, module: ModuleType) -> None:
        """Have the module contain what is imported from it."""
        module.__getattr__ = _left_out  # type: ignore[method-assign]


class LeftOut:
    """Stands for each class of these modules."""

    def __init__(self, *_arguments: Any, **_named: Any) -> None:
        raise RuntimeError("This class of the Kubernetes client is left out in the operator's resident process.")


def _left_out(name: str) -> type[LeftOut]:
    """Return a class that cannot be used; AttributeError for the attributes of a module."""
    if name.startswith("_"):
        raise AttributeError(name)
    return LeftOut


# A module and a class for each name would be a tenth of the memory.
_MODULE = ModuleType("left_out")
# requests warns if charset_normalizer has none, or one that it does not support.
_MODULE.__version__ = "3.0.0"  # type: ignore[attr-defined]
