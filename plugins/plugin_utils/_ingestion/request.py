# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one task asks for, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils import _waiting
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.settings import Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._task import Task


@dataclass(frozen=True)
class Request(Task):
    """An ingestion, and what to do with it in which way."""

    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True)
class Outcome(_waiting.Outcome[Report]):
    """What came of a request. `done` are the titles of the steps of all passes, `diff` what they changed in Druid."""

    done: tuple[str, ...] = ()
    diff: tuple[dict[str, Any], ...] = ()
