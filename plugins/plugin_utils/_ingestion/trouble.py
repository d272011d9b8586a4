# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is in the way when Druid does not do what an ingestion asks for, in the words of its resource. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.druidops.druid.plugins.module_utils._errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid import trouble
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding

_FIELDS: Mapping[str, str] = {
    "url": "spec.endpoint.url, or leads to the router of spec.druidCluster",
    "ca_path": "spec.endpoint.caSecretRef",
    "client_cert": "spec.endpoint.clientCertificateSecretRef",
}


def finding(error: DruidError) -> Finding:
    """Return the reason by the kind of the error, in its own words."""
    return trouble.finding(error, _FIELDS)
