# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The features of a cluster, in the order in which they are asked: the only place that knows all of them."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.autoscaling import Autoscaling
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning import Decommissioning
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining import Draining
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.memory_warnings import MemoryWarnings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.other_owners import (
    NameCollisions,
    Takeover,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.quotas import Quotas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.removal import Removal
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.restart_on_change import RestartOnChange
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.services import Services
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.setting_warnings import SettingWarnings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.start_failures import StartFailures
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage import Storage
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.validation import Validation

FEATURES: tuple[Feature, ...] = (
    Autoscaling(),
    Takeover(),
    Validation(),
    Removal(),
    NameCollisions(),
    # Its problems come first: pods with segments may be lost.
    Decommissioning(),
    Storage(),
    Services(),
    SettingWarnings(),
    MemoryWarnings(),
    Quotas(),
    RestartOnChange(),
    StartFailures(),
    Draining(),
    DynamicConfig(),
)
