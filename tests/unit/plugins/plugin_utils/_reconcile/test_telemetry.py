# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When all resources are counted, and what is said when the metrics cannot be told."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError, ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.definitions import Run
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.file_lock import file_lock
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.telemetry import failed_run, publish
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._metrics.endpoint import Endpoint, serving

RUN = Run(0.5, "unchanged")
CLUSTERS = "druidops_druid_clusters"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


def names(endpoint: Endpoint) -> list[str]:
    """Return the names of what has been posted since the last look."""
    found = [body["name"] for _path, body in endpoint.posted]
    endpoint.posted.clear()
    return found


def counted(endpoint: Endpoint, is_news: bool, census: dict[str, float] | None) -> bool:
    """Tell of a run, and return whether the resources were counted for that."""
    assert publish(endpoint.url, "druid", RUN, lambda: census, is_news) is None
    told = names(endpoint)
    assert "druidops_druid_reconciles_unchanged_total" in told
    return CLUSTERS in told


def test_counts_after_each_write_and_otherwise_now_and_then(endpoint: Endpoint) -> None:
    told = [counted(endpoint, is_news, {"clusters": 1.0}) for is_news in (False, False, True, False)]
    assert told == [True, False, True, False]


def test_what_could_not_be_counted_is_counted_next_time(endpoint: Endpoint) -> None:
    assert not counted(endpoint, False, None)
    assert counted(endpoint, False, {"clusters": 1.0})


def test_others_that_take_long_are_not_waited_for(endpoint: Endpoint, directory: Path) -> None:
    assert publish(endpoint.url, "druid", RUN, lambda: None, is_news=False) is None
    [file] = directory.iterdir()
    names(endpoint)
    with file_lock(file, 1):
        said = publish(endpoint.url, "druid", RUN, lambda: None, is_news=False)
    assert said is not None
    assert "locked by other processes" in said
    assert names(endpoint) == []


def test_nobody_listens() -> None:
    said = publish("http://127.0.0.1:1/metrics", "druid", RUN, lambda: None, is_news=False)
    assert said is not None
    assert said.startswith("The metrics could not be pushed to http://127.0.0.1:1/metrics")


@pytest.mark.parametrize(
    "error", [KubernetesError("It did not respond."), RecursionError("too deep"), PermissionError("no token")]
)
def test_what_cannot_be_counted_ends_no_pass(endpoint: Endpoint, error: Exception) -> None:
    def count() -> None:
        raise error

    said = publish(endpoint.url, "druid", RUN, count, is_news=True)
    assert said is not None
    assert str(error) in said
    assert counted(endpoint, False, {"clusters": 1.0})


@contextmanager
def full() -> Iterator[None]:
    """Let no byte be written to any file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_directory_that_is_full_ends_no_pass(endpoint: Endpoint) -> None:
    with full():
        said = publish(endpoint.url, "druid", RUN, lambda: {"clusters": 1.0}, is_news=True)
    assert said is not None
    assert "File too large" in said
    assert CLUSTERS in names(endpoint)


def test_what_is_no_url_ends_no_pass() -> None:
    said = publish("http://[/metrics", "druid", RUN, lambda: None, is_news=True)
    assert said is not None
    assert said.startswith("The metrics could not be pushed to http://[/metrics")


def test_each_kind_is_counted(endpoint: Endpoint) -> None:
    for kind in ("druid", "druidingestion", "druid"):
        publish(endpoint.url, kind, RUN, lambda: {"degraded_since_timestamp_seconds": 0.0}, is_news=False)
    told = [name for name in dict.fromkeys(names(endpoint)) if "degraded" in name]
    assert told == [f"druidops_{kind}_degraded_since_timestamp_seconds" for kind in ("druid", "druidingestion")]


def test_all_kinds_take_turns_at_an_endpoint(directory: Path) -> None:
    for url, kind in (
        ("http://127.0.0.1:1/a", "druid"),
        ("http://127.0.0.1:2/a", "druid"),
        ("http://127.0.0.1:1/a", "druidingestion"),
    ):
        publish(url, kind, RUN, lambda: None, is_news=False)
    assert len(list(directory.iterdir())) == 2


@pytest.mark.parametrize("phase", ["observe", "decide"])
def test_an_error_is_that_of_the_phase_in_which_it_happened(phase: str) -> None:
    meter = Meter()
    with meter.phases(phase):
        pass
    told = failed_run(KubernetesError("x"), meter, 1.0)
    assert (told.outcome, told.errors) == ("failed", {phase: 1})


def test_a_resource_that_has_gone_is_no_failure() -> None:
    told = failed_run(ResourceNotFound("x"), Meter(), 1.0)
    assert (told.outcome, told.errors) == ("unchanged", {})
