# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods restart when the first Service of their group changes: another serviceName alone makes no new revision.

Until then they have the subdomain of the earlier Service, which Druid has announced, and which stays until then.
"""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.service import service_names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def subdomain_annotation(group: Group, preserved: Preserved) -> str | None:
    """Return the annotation of the group's pods; None for a group whose first Service has never changed."""
    subdomain = next(iter(service_names(group)), "")
    if group.is_deployment or not (preserved.has_subdomain_annotation or preserved.subdomain):
        return None
    has_changed = preserved.has_subdomain_annotation or preserved.subdomain != subdomain
    return subdomain if has_changed else None
