# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which connections a reconcile has: only that to the API server without a readable cache, and after a lost one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache import CachedApi
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import task
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request

SERVER = "https://192.0.2.1"
KUBECONFIG = """
clusters: [{name: c, cluster: {server: "http://192.0.2.2"}}]
contexts: [{name: c, context: {cluster: c, user: ""}}]
current-context: c
"""


def attempt_of(kubeconfig: Path, meter: Meter, monkeypatch: pytest.MonkeyPatch, unfinished: str = "") -> Any:
    """Return the connection of the first attempt."""
    monkeypatch.setattr(task, "run", lambda _kind, api, *_arguments: api)
    monkeypatch.setattr(task, "cache_first", lambda _kind, _request, cached, *_arguments: cached)
    connection = {"host": SERVER, "api_key": "token", "cache_kubeconfig": str(kubeconfig)}
    arguments = {**connection, "operator": True, "period": 60.0, "unfinished": unfinished}
    carried_out = task.Task(DRUID, arguments, str, print, print)
    return carried_out._reconcile(Request("c", "ns", Options()), meter)


def test_the_cache_is_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text(KUBECONFIG, encoding="utf-8")
    meter = Meter()

    attempted = attempt_of(tmp_path / "cache", meter, monkeypatch)

    assert isinstance(attempted, CachedApi)
    assert (attempted.server, attempted.direct.server) == ("http://192.0.2.2", SERVER)
    assert (meter.cache_error, meter.requests["cache_errors"]) == (None, 0)


def test_the_cache_is_not_first_after_a_run_that_did_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The status reports it; with the former status of the cache there would be nothing to do."""
    (tmp_path / "cache").write_text(KUBECONFIG, encoding="utf-8")
    reported: list[tuple[str, str]] = []

    def report(_task: task.Task, api: Any, _request: Any, cause: str) -> None:
        reported.append((api.server, cause))

    monkeypatch.setattr(task.Task, "_report_unfinished", report)

    attempted = attempt_of(tmp_path / "cache", Meter(), monkeypatch, unfinished="signal 9")

    assert not isinstance(attempted, CachedApi)
    assert (attempted.server, reported) == (SERVER, [(SERVER, "signal 9")])


@pytest.mark.parametrize("content", [None, "", "{", "clusters: []"])
def test_unreadable_cache_counts_as_unresponsive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "cache").write_text(content, encoding="utf-8")
    meter = Meter()

    attempted = attempt_of(tmp_path / "cache", meter, monkeypatch)

    assert not isinstance(attempted, CachedApi)
    assert attempted.server == SERVER
    assert str(tmp_path / "cache") in str(meter.cache_error)
    assert (meter.cache, meter.requests["cache_errors"]) == (None, 1)
