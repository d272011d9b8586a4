# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is to be deployed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Chart:
    """A chart: `reference`, `repository` and `requested_version` are arguments of Helm."""

    name: str
    version: str
    reference: str
    repository: str | None = None
    requested_version: str | None = None

    @property
    def title(self) -> str:
        return f"{self.name}-{self.version}"


@dataclass(frozen=True)
class Target:
    """What is to be deployed: release and namespace have been validated."""

    release: str
    namespace: str
    chart: Chart
    values: Mapping[str, Any]
