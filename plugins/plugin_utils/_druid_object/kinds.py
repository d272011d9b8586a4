# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds of resources that describe one object in a Druid."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kind import ObjectKind
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.lookup import LOOKUP
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.role import ROLE
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.user import USER

KINDS: Mapping[str, ObjectKind] = {kind.name: kind for kind in (LOOKUP, ROLE, USER)}
