# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A reconcile of one cluster costs the same with any number of other clusters."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import FaultProxy, Seen, fault_proxy
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, one_pass, run
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource, spec
from testbed.control_plane import ControlPlane

OTHERS = 20


def requests(proxy: FaultProxy, live: NamespaceClient, name: str) -> list[Seen]:
    """Return the requests of one reconcile; the number of status writes depends on the speed of the controllers."""
    proxy.expect()
    run(proxy.api(), cluster_request(name, live.namespace), lambda _text: None, Clock())
    return [seen for seen in proxy.seen if not seen.path.endswith("/status")]


def test_other_clusters_cost_nothing(control_plane: ControlPlane, live: NamespaceClient) -> None:
    """Neither a reconcile without changes, nor a creation, nor an update sends an additional request."""
    with fault_proxy(control_plane) as proxy:

        def life(name: str) -> list[list[str]]:
            live.create(resource(name))
            passes = [requests(proxy, live, name), requests(proxy, live, name)]
            live.merge("Druid", name, {"spec": spec(1, image="apache/druid:35.0.0")})
            passes += [requests(proxy, live, name), requests(proxy, live, name)]
            return [[str(seen).replace(name, "NAME") for seen in each] for each in passes]

        alone = life("alone")
        for number in range(OTHERS):
            live.create(resource(f"other-{number}"))
            one_pass(live, f"other-{number}")
        assert life("among") == alone
