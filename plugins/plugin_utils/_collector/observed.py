# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reconcile of a Collector depends on, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

NamespaceState = Literal["active", "missing", "terminating"]


@dataclass(frozen=True)
class Observed:
    """What was read. `owner` is the Collector that the release belongs to, if it is another one and exists.

    `unreadable` is why a Secret of the release cannot be read. `environment` are the Secrets with environment variables
    by name, None for one that does not exist.
    """

    release: Release | None = None
    unreadable: str = ""
    owner: Manifest | None = None
    siblings: tuple[Manifest, ...] = ()
    druid: Manifest | None = None
    source: Manifest | None = None
    environment: Mapping[str, Manifest | None] = field(default_factory=dict)
