# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kubernetes versions that the test bed can run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

MODULES = Path(__file__).parent / "kubernetes"
SUPPORTED = ("1.30", "1.34", "1.36")
DEFAULT = "1.34"
_ALIASES = {"oldest": SUPPORTED[0], "newest": SUPPORTED[-1], "default": DEFAULT}


@dataclass(frozen=True)
class Version:
    """One supported minor version; all other facts are read from its go.mod."""

    minor: str

    @property
    def module(self) -> Path:
        """The directory with the go.mod and go.sum of this version."""
        return MODULES / f"v{self.minor}"

    @property
    def release(self) -> str:
        """The exact release, such as v1.34.4."""
        release = self._required("k8s.io/kubernetes")
        if release is None:
            raise ValueError(f"{self.module}/go.mod does not require k8s.io/kubernetes")
        return release

    @property
    def includes_kwok(self) -> bool:
        """Whether kwok compiles against this version's libraries and is part of the same program."""
        return self._required("sigs.k8s.io/kwok") is not None

    def _required(self, module: str) -> str | None:
        found = re.search(rf"^\s+{re.escape(module)} (v\S+)$", (self.module / "go.mod").read_text(), re.MULTILINE)
        return found and found.group(1)


def version(name: str = DEFAULT) -> Version:
    """The version called 1.34, v1.34, oldest, newest or default."""
    minor = _ALIASES.get(name, name.removeprefix("v"))
    if minor not in SUPPORTED:
        raise ValueError(f"Kubernetes {name} is not supported; choose one of {', '.join(SUPPORTED)}, oldest, newest")
    return Version(minor)
