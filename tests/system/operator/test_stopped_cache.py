# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-operator's cache is no longer refreshed, and still responds: it may not watch Services any more."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.operator_account import Account, account, deny
from ansible_collections.druidops.druid.tests.system.support.prometheus_files import samples
from ansible_collections.druidops.druid.tests.system.support.tcp_gate import gate
from testbed.operator.settings import METRICS_PORT
from testbed.operator.started import METRICS_PORT as STAND_IN_PORT
from testbed.operator.started import real_program
from testbed.operator_plugin import StartOperator
from testbed.ports import reserved_ports

NAME = "c"
SERVICE = f"druid-{NAME}-brokers"


def test_drift_that_the_cache_hides_is_corrected_and_reported(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    watching, reading = _account(live, tmp_path / "watching"), _account(live, tmp_path / "reading")
    log = tmp_path / "log"
    with gate(live.plane.url) as way, reserved_ports(2) as (posted_to, scraped_at):
        port = METRICS_PORT if real_program() else posted_to
        started = start(
            operator,
            live,
            tmp_path,
            login=watching,
            kubeconfig=watching.through(way.url),
            direct=reading.kubeconfig,
            flags=[f"--metrics-bind-address=127.0.0.1:{scraped_at}"],
            RECONCILE_WAIT="2s",
            DRUIDOPS_LOG=str(log),
            DRUIDOPS_METRICS_URL=f"http://localhost:{port}/metrics",
            **{STAND_IN_PORT: str(port)},
        )
        live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
        started.wait_until_settled(NAME)

        # so that what exists already ends, too
        deny(live.plane, watching, ("list", "watch"), "services")
        way.close()
        way.open()
        before = len(_lines(log))
        live.delete("Service", SERVICE)

        eventually(lambda: live.find("Service", SERVICE), otherwise=lambda: started.diagnostics(NAME))
        full = eventually(lambda: [n for n, line in enumerate(_lines(log)[before:]) if line["done"]])
        # the line before is that of a reconcile that began before the deletion
        assert full[0] <= 10
        line = _lines(log)[before + full[0]]
        assert line["done"] == [f"create Service {SERVICE}"]
        assert f"Service {live.namespace}/{SERVICE}" in line["cache"]
        url = f"http://127.0.0.1:{scraped_at}/metrics"
        eventually(lambda: _value(url, "druidops_druid_stale_caches_total") >= 1)

        # nor does a cache hide that nothing can be read
        deny(live.plane, reading, ("list", "watch"), "services")
        live.delete("Service", SERVICE)
        ready = eventually(lambda: _unready(live), otherwise=lambda: started.diagnostics(NAME))
        assert ready["reason"] == "ObserveFailed"


def _account(live: NamespaceClient, directory: Path) -> Account:
    directory.mkdir()
    return account(live.plane, live.namespace, directory)


def _lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def _value(url: str, name: str) -> float:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return next((each.value for each in samples(answer.read().decode()) if each.name == name), 0)


def _unready(live: NamespaceClient) -> Any:
    ready = condition(live.get("Druid", NAME), "Ready")
    return ready if ready["status"] != "True" else None
