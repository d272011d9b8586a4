# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A resource that Kubernetes stores and Python cannot parse blocks no other one of its namespace."""

from __future__ import annotations

import json
from contextlib import suppress

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import observe
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads
from ansible_collections.druidops.druid.tests.system.support.in_process import connection
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient

KIND = "DruidIngestion"
DEEP = '{"a":' * 2000 + "1" + "}" * 2000


def resource(name: str) -> Manifest:
    """Return a resource whose task has a context."""
    task = {"type": "index_parallel", "context": "%%"}
    ingestion = {"type": "native-batch", "nativeSpec": task}
    spec = {"ingestion": ingestion, "endpoint": {"url": "http://127.0.0.1:1"}}
    return {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": KIND,
        "metadata": {"name": name},
        "spec": spec,
    }


def test_unreadable_resource_blocks_no_other(live: NamespaceClient) -> None:
    own = live.create(resource("own"))
    live.create(resource("other"))
    # Python cannot serialize what it cannot parse, nor can this test parse the response.
    with suppress(RecursionError):
        body = json.dumps(resource("deep")).replace('"%%"', DEEP)
        live.plane.request("POST", live.path(KIND), body, user="person")
    api = connection(live)
    assert sorted(api.list_names(KIND, live.namespace)) == ["deep", "other", "own"]
    found = observe(Reads(api, live.namespace), Ingestion.from_resource(own), ()).siblings
    assert {each.name for each in found} - {"deep"} == {"other"}
    # The fixture that removes all resources of the namespace cannot read it, either.
    live.plane.request("DELETE", f"{live.path(KIND)}/deep")
