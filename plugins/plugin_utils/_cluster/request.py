# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one task asks for."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.settings import Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._task import Task


@dataclass(frozen=True)
class Request(Task):
    """A cluster, and what to do with it in which way."""

    settings: Settings = field(default_factory=Settings)
