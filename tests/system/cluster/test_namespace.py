# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A terminating namespace is detected by a dry run, which may be rejected for other reasons as well."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import is_namespace_terminating
from ansible_collections.druidops.druid.tests.system.support import admission
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import connection
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient


def namespace_is_terminating(live: NamespaceClient) -> bool:
    return is_namespace_terminating(connection(live), live.namespace)


def test_terminating_namespace_is_reported(live: NamespaceClient) -> None:
    held = {"kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["example.org/hold"]}}
    live.create(held)
    assert not namespace_is_terminating(live)
    admission.limit(live, "count/configmaps", 0)
    assert not namespace_is_terminating(live)
    admission.no_limit(live)
    with admission.refusing(live, "ConfigMap"):
        assert not namespace_is_terminating(live)
        live.plane.request("DELETE", f"/api/v1/namespaces/{live.namespace}", user="person")
        eventually(lambda: namespace_is_terminating(live))
    live.merge("ConfigMap", "held", {"metadata": {"finalizers": None}})
