# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pushing metrics to a real server on a real socket."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.metrics import PushError, push
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._metrics.endpoint import Endpoint, serving

BODIES = [{"name": f"m{number}", "counter": {"add": number}} for number in range(3)]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


@contextmanager
def unresponsive_server() -> Iterator[str]:
    """Run a server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/metrics"


def test_all_metrics_are_posted_on_one_connection(endpoint: Endpoint) -> None:
    push(endpoint.url, BODIES, timeout=60)
    assert endpoint.posted == [("/metrics", body) for body in BODIES]
    assert len(endpoint.connections) == 1


def test_rejected_metric_is_named_and_the_others_are_posted(endpoint: Endpoint) -> None:
    endpoint.rejected = {"m1"}
    with pytest.raises(PushError, match=r"rejected metrics: m1: 400 cannot change metric type"):
        push(endpoint.url, BODIES, timeout=60)
    assert len(endpoint.posted) == 3


def test_missing_response_is_an_error() -> None:
    with unresponsive_server() as url, pytest.raises(PushError, match="could not be pushed to http"):
        push(url, BODIES, timeout=0.05)


def test_nothing_is_posted_after_the_timeout(endpoint: Endpoint) -> None:
    with pytest.raises(PushError, match="could not be pushed"):
        push(endpoint.url, BODIES, timeout=0)
    assert endpoint.posted == []


@pytest.mark.parametrize("url", ["http://localhost:port/metrics", "http://127.0.0.1:1/metrics", "nothing", ""])
def test_invalid_or_unreachable_url(url: str) -> None:
    with pytest.raises(PushError, match="pushed to"):
        push(url, BODIES)
