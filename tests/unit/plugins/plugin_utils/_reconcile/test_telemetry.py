# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When the resources of a kind are counted, and the warning if metrics cannot be pushed."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError, ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.file_lock import file_lock
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.metrics import Run
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import task
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import failed_run, publish
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._metrics.endpoint import Endpoint, serving

RUN = Run(0.5, "unchanged")
CLUSTERS = "druidops_druid_clusters"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


def names(endpoint: Endpoint) -> list[str]:
    """Return the names of the metrics that were posted since the last call."""
    found = [body["name"] for _path, body in endpoint.posted]
    endpoint.posted.clear()
    return found


def counted(endpoint: Endpoint, is_changed: bool, census: dict[str, float] | None) -> bool:
    """Publish the metrics of a run, and return whether the resources were counted."""
    assert publish(endpoint.url, "druid", RUN, lambda: census, is_changed) is None
    posted = names(endpoint)
    assert "druidops_druid_reconciles_unchanged_total" in posted
    return CLUSTERS in posted


def test_resources_are_counted_after_each_write_and_periodically(endpoint: Endpoint) -> None:
    found = [counted(endpoint, is_changed, {"clusters": 1.0}) for is_changed in (False, False, True, False)]
    assert found == [True, False, True, False]


def test_failed_census_is_repeated_but_not_in_each_run(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not counted(endpoint, False, None)
    assert not counted(endpoint, False, {"clusters": 1.0})
    monkeypatch.setattr(task, "CENSUS_PERIOD_SECONDS", 0)
    assert counted(endpoint, False, {"clusters": 1.0})


def test_census_that_needs_too_much_memory_fails_only_the_metrics(endpoint: Endpoint) -> None:
    """A reconcile has a memory limit, and its work is done already."""

    def count() -> None:
        raise MemoryError

    warning = publish(endpoint.url, "druid", RUN, count, is_changed=False)
    assert warning is not None
    assert "more memory than a run may have" in warning
    assert not counted(endpoint, False, {"clusters": 1.0})


def test_publish_does_not_wait_for_a_locked_file(endpoint: Endpoint, directory: Path) -> None:
    assert publish(endpoint.url, "druid", RUN, lambda: None, is_changed=False) is None
    [file] = directory.iterdir()
    names(endpoint)
    with file_lock(file, 1):
        warning = publish(endpoint.url, "druid", RUN, lambda: None, is_changed=False)
    assert warning is not None
    assert "locked by other processes" in warning
    assert names(endpoint) == []


def test_unreachable_endpoint_is_a_warning() -> None:
    warning = publish("http://127.0.0.1:1/metrics", "druid", RUN, lambda: None, is_changed=False)
    assert warning is not None
    assert warning.startswith("The metrics could not be pushed to http://127.0.0.1:1/metrics")


@pytest.mark.parametrize(
    "error", [KubernetesError("It did not respond."), RecursionError("too deep"), PermissionError("no token")]
)
def test_failed_census_does_not_fail_the_reconcile(endpoint: Endpoint, error: Exception) -> None:
    def count() -> None:
        raise error

    warning = publish(endpoint.url, "druid", RUN, count, is_changed=True)
    assert warning is not None
    assert str(error) in warning
    assert counted(endpoint, True, {"clusters": 1.0})


@contextmanager
def full_disk() -> Iterator[None]:
    """Let every write to a file fail."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_full_directory_does_not_fail_the_reconcile(endpoint: Endpoint) -> None:
    with full_disk():
        warning = publish(endpoint.url, "druid", RUN, lambda: {"clusters": 1.0}, is_changed=True)
    assert warning is not None
    assert "File too large" in warning
    assert CLUSTERS in names(endpoint)


def test_invalid_url_does_not_fail_the_reconcile() -> None:
    warning = publish("http://[/metrics", "druid", RUN, lambda: None, is_changed=True)
    assert warning is not None
    assert warning.startswith("The metrics could not be pushed to http://[/metrics")


def test_each_kind_is_counted(endpoint: Endpoint) -> None:
    for kind in ("druid", "druidingestion", "druid"):
        publish(endpoint.url, kind, RUN, lambda: {"degraded_since_timestamp_seconds": 0.0}, is_changed=False)
    found = [name for name in dict.fromkeys(names(endpoint)) if "degraded" in name]
    assert found == [f"druidops_{kind}_degraded_since_timestamp_seconds" for kind in ("druid", "druidingestion")]


def test_all_kinds_share_the_lock_of_an_endpoint(directory: Path) -> None:
    for url, kind in (
        ("http://127.0.0.1:1/a", "druid"),
        ("http://127.0.0.1:2/a", "druid"),
        ("http://127.0.0.1:1/a", "druidingestion"),
    ):
        publish(url, kind, RUN, lambda: None, is_changed=False)
    assert len(list(directory.iterdir())) == 2


@pytest.mark.parametrize("phase", ["observe", "decide"])
def test_error_is_counted_for_its_phase(phase: str) -> None:
    meter = Meter()
    with meter.phases(phase):
        pass
    found = failed_run(KubernetesError("x"), meter, 1.0)
    assert (found.outcome, found.errors) == ("failed", {phase: 1})


def test_deleted_resource_is_not_a_failure() -> None:
    found = failed_run(ResourceNotFound("x"), Meter(), 1.0)
    assert (found.outcome, found.errors) == ("unchanged", {})
