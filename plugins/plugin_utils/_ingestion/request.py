# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one task asks for, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.settings import Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import Manifest

# Takes a line for the person who waits.
Progress = Callable[[str], None]


class NotThere(DruidopsError):
    """The named resource does not exist."""


@dataclass(frozen=True)
class Request:
    """An ingestion named by its resource, given as a resource, or described by variables; and what to do with it."""

    name: str
    namespace: str
    resource: Manifest | None = None
    spec: Mapping[str, Any] | None = None
    by_variable: bool = False
    absent: bool = False
    wait: bool = False
    wait_timeout: int = 600
    wait_sleep: int = 2
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True)
class Outcome:
    """What came of a request; `report` is None when there was nothing to report on.

    `done` are the titles of the steps of all passes, `diff` what they changed in Druid.
    """

    done: tuple[str, ...] = ()
    diff: tuple[dict[str, Any], ...] = ()
    report: Report | None = None
    warnings: tuple[str, ...] = ()
    timed_out: bool = False
