# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""As whom the objects of a release are read and written: the operator, or an account of the tenant."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi


def user_of(service_account: str, namespace: str) -> str:
    """Return the user of the administrator's ServiceAccount in the namespace of a tenant; empty without one."""
    return f"system:serviceaccount:{namespace}:{service_account}" if service_account else ""


def connection_of(api: KubernetesApi, user: str) -> KubernetesApi:
    """Return the connection for the objects of a release."""
    return api.acting_as(user) if user else api
