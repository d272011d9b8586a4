# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Druid of the test bed behaves as the other tests rely on."""

from __future__ import annotations

import secrets
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.testbed_process import (
    ENVIRONMENT,
    command_line,
    commands_in,
)
from testbed.api import Api, ApiError
from testbed.directory import DirectoryError
from testbed.druid.druid import Druid, DruidError
from testbed.druid.kafka import Kafka
from testbed.druid.settings import DRUID_SERVERS
from testbed.druid_plugin import release
from testbed.processes import ProcessError, Processes
from testbed.proxy import Loss
from testbed.recording_proxy import Exchange, recording_proxy

SUPERVISORS = "/druid/indexer/v1/supervisor"
STATUS = "/status"


@pytest.fixture
def topic() -> str:
    """A name that no other test has."""
    return f"topic-{secrets.token_hex(4)}"


def with_kafka(druid: Druid) -> Kafka:
    """Its Kafka."""
    assert druid.kafka is not None, f"Druid {druid.version} runs without Kafka"
    return druid.kafka


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Rows that differ."""
    return ({"time": "2026-01-01T00:00:00Z", "number": number} for number in range(count))


def supervisor(druid: Druid, topic: str, **fields: Any) -> dict[str, Any]:
    """A Kafka supervisor that loads the topic into a datasource of the same name, without needless waiting."""
    schema = {
        "dataSource": topic,
        "timestampSpec": {"column": "time", "format": "iso"},
        "dimensionsSpec": {"useSchemaDiscovery": True},
        "granularitySpec": {"segmentGranularity": "day", "rollup": False},
    }
    source = {
        "topic": topic,
        "inputFormat": {"type": "json"},
        "consumerProperties": {"bootstrap.servers": with_kafka(druid).address},
        "useEarliestOffset": True,
        "taskDuration": "PT1M",
        "startDelay": "PT0S",
        "period": "PT1S",
    }
    tuning = {"type": "kafka", "shutdownTimeout": "PT2S"}
    return {"type": "kafka", "spec": {"dataSchema": schema, "ioConfig": source, "tuningConfig": tuning}, **fields}


def count(druid: Druid, datasource: str) -> int:
    """How many rows a query finds; a datasource that is not there yet has none."""
    with suppress(ApiError):
        return int(druid.query(f'SELECT COUNT(*) AS "rows" FROM "{datasource}"')[0]["rows"])
    return 0


def loaded(druid: Druid, datasource: str, number: int) -> None:
    """Wait until so many rows are found."""
    eventually(lambda: count(druid, datasource) == number, timeout=120)


def get(druid: Druid, **connection: Any) -> Any:
    """The status for a client that connects in this way."""
    return Api(druid.url, **connection).request("GET", STATUS)


def test_serves_the_requested_release(druid: Druid) -> None:
    for server in DRUID_SERVERS:
        assert druid.request("GET", STATUS, server=server)["version"] == druid.version


def test_all_servers_find_each_other(druid: Druid) -> None:
    found = druid.query("SELECT server_type FROM sys.servers")
    assert {each["server_type"] for each in found} == {*DRUID_SERVERS, "overlord"}


def test_rows_come_from_kafka(druid: Druid, topic: str) -> None:
    kafka = with_kafka(druid)
    kafka.make_topic(topic)
    kafka.produce(topic, rows(100))
    druid.request("POST", SUPERVISORS, supervisor(druid, topic))
    loaded(druid, topic, 100)
    kafka.produce(topic, rows(50))
    loaded(druid, topic, 150)
    druid.request("POST", f"{SUPERVISORS}/{topic}/terminate")
    assert topic not in druid.request("GET", SUPERVISORS)
    druid.remove_datasource(topic)
    kafka.delete_topic(topic)


def test_sql_ingests_where_it_is_an_extension(druid_27: Druid, topic: str) -> None:
    replace = (
        f"""REPLACE INTO "{topic}" OVERWRITE ALL SELECT CURRENT_TIMESTAMP AS __time, 'a' AS x PARTITIONED BY ALL"""
    )
    task = druid_27.request("POST", "/druid/v2/sql/task", {"query": replace})["taskId"]

    def state() -> str:
        status = druid_27.request("GET", f"/druid/indexer/v1/task/{task}/status")["status"]
        return str(status["status"])

    eventually(lambda: state() != "RUNNING", timeout=120)
    assert state() == "SUCCESS"
    loaded(druid_27, topic, 1)


def test_basic_security_knows_the_administrator_only(druid_basic: Druid) -> None:
    assert druid_basic.credentials is not None
    assert druid_basic.credentials.password not in repr(druid_basic.credentials)
    assert druid_basic.request("GET", STATUS)["version"] == druid_basic.version
    for authorization in (None, "Basic YWRtaW46ZHJ1aWQ="):
        with pytest.raises(ApiError) as refused:
            get(druid_basic, authorization=authorization)
        assert refused.value.status == 401


def test_passwords_are_private(druid_basic: Druid) -> None:
    assert druid_basic.credentials is not None
    password = druid_basic.credentials.password
    for file in (each for each in druid_basic.directory.iterdir() if each.is_file()):
        if password in file.read_text(errors="replace"):
            assert file.stat().st_mode & 0o077 == 0, file
    assert all(password not in command for command in commands_in(druid_basic.directory))


@pytest.mark.parametrize("server", DRUID_SERVERS)
def test_tls_is_verified_by_the_authority(druid_mutual_tls: Druid, server: str) -> None:
    assert druid_mutual_tls.url.startswith("https://")
    assert druid_mutual_tls.request("GET", STATUS, server=server)["version"] == druid_mutual_tls.version


def test_tls_is_not_trusted_without_the_authority(druid_mutual_tls: Druid) -> None:
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        get(druid_mutual_tls)


def test_tls_of_all_servers_among_each_other(druid_mutual_tls: Druid) -> None:
    # the router connects to the broker, and the broker to the coordinator
    assert (
        len(druid_mutual_tls.query("SELECT server_type FROM sys.servers WHERE tls_port > 0")) == len(DRUID_SERVERS) + 1
    )


def test_client_certificate_is_required(druid_mutual_tls: Druid) -> None:
    assert druid_mutual_tls.client_certificate is not None
    assert druid_mutual_tls.request("GET", STATUS)["version"] == druid_mutual_tls.version
    assert druid_mutual_tls.query('SELECT 1 AS "one"') == [{"one": 1}]
    with pytest.raises((ssl.SSLError, OSError), match=r"(?i)certificate|reset|closed|eof"):
        get(druid_mutual_tls, authority=druid_mutual_tls.ca_file)


def test_proxy_records_exchanges(druid_mutual_tls: Druid) -> None:
    with recording_proxy(druid_mutual_tls.upstream) as proxy:
        client = Api(proxy.url)
        assert client.request("GET", STATUS)["version"] == druid_mutual_tls.version
        assert client.request("POST", "/druid/v2/sql", {"query": 'SELECT 1 AS "one"'}) == [{"one": 1}]
        proxy.fail_next(Loss.CUT, method="POST")
        with pytest.raises(OSError, match=r"reset|closed"):
            client.request("POST", "/druid/v2/sql", {"query": 'SELECT 2 AS "two"'})
    assert proxy.exchanges == [
        Exchange("GET", STATUS, 200),
        Exchange("POST", "/druid/v2/sql", 200),
        Exchange("POST", "/druid/v2/sql", None),
    ]


def listening(process: int) -> set[str]:
    """The addresses that a process listens on, as the kernel writes them."""
    sockets = {path.readlink().name for path in Path(f"/proc/{process}/fd").iterdir() if path.is_symlink()}
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{process}/net/{name}").read_text().splitlines()
    ]
    return {line[1].partition(":")[0] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets}


def test_listens_on_loopback_only(druid: Druid) -> None:
    (process,) = Processes(druid.directory).running()
    # 127.0.0.1, and the same as an address of IPv6
    assert listening(process.pid) <= {"0100007F", "0000000000000000FFFF00000100007F"}


@campaign("the tests of outages kill and revive both")
@pytest.mark.xdist_group("killed Druid")
def test_restarted_overlord_has_its_supervisors(druid_apart: Druid, topic: str) -> None:
    druid_apart.request("POST", SUPERVISORS, supervisor(druid_apart, topic, suspended=True))
    druid_apart.kill("coordinator")
    with pytest.raises(OSError, match="refused"):
        druid_apart.request("GET", SUPERVISORS, server="coordinator")
    assert Druid.find(druid_apart.directory) is None
    druid_apart.revive("coordinator")
    assert topic in druid_apart.request("GET", SUPERVISORS, server="coordinator")
    # the router has to hear of the leader, too
    eventually(lambda: answered(partial(druid_apart.request, "GET", SUPERVISORS)))
    assert Druid.find(druid_apart.directory) is not None


def answered(request: Callable[[], Any]) -> bool:
    """Whether there is a response that is not an error."""
    with suppress(ApiError):
        request()
        return True
    return False


@campaign("the tests of outages kill and revive both")
@pytest.mark.xdist_group("killed Druid")
def test_restarted_kafka_has_its_rows(druid_apart: Druid, topic: str) -> None:
    kafka = with_kafka(druid_apart)
    kafka.make_topic(topic)
    kafka.produce(topic, rows(10))
    druid_apart.kill("kafka")
    assert not kafka.answers()
    druid_apart.revive("kafka")
    kafka.produce(topic, rows(5))
    eventually(lambda: answered(partial(druid_apart.request, "POST", SUPERVISORS, supervisor(druid_apart, topic))))
    loaded(druid_apart, topic, 15)


def test_only_separate_processes_can_be_killed(druid: Druid) -> None:
    with pytest.raises(DruidError, match="there is no JVM coordinator here, only druid; start Druid with other jvms"):
        druid.kill("coordinator")


@campaign("a Druid is started and stopped from the command line")
def test_failed_start_shows_the_log_and_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "--no-such-flag")
    with pytest.raises(ProcessError, match=r"(?s)druid has ended.*--no-such-flag"):
        Druid.start(tmp_path / "druid", release())
    assert commands_in(tmp_path) == []


def test_rejects_a_directory_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("data")
    with pytest.raises(DirectoryError, match="holds other files"):
        Druid.start(tmp_path, release())
    assert (tmp_path / "precious").read_text() == "data"


def test_rejects_features_that_the_release_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(DruidError, match=r"Druid 27\.0\.0 has no druid-kafka-indexing-service here.*: 33\.0\.0"):
        Druid.start(tmp_path / "druid", "27.0.0", kafka=True)
    with pytest.raises(ValueError, match="no configuration is called closed; choose one of open, basic, tls"):
        Druid.start(tmp_path / "druid", release(), "closed")
    assert not (tmp_path / "druid").exists()


@campaign("each Druid of the tests is started by a command line")
def test_command_line_starts_finds_and_removes_one(tmp_path: Path) -> None:
    where = ("--dir", str(tmp_path / "druid"))
    up = ("druid", "up", *where, "--version", release())
    try:
        assert command_line("druid", "status", *where).returncode == 1
        started = command_line(*up)
        assert started.returncode == 0, started.stderr
        # it has outlived its parent
        assert len(Processes(tmp_path / "druid").running()) == 1
        again = command_line(*up)
        assert (again.returncode, again.stdout) == (0, started.stdout)
        assert command_line("druid", "status", *where).stdout == started.stdout
        other = command_line(*up, "--configuration", "tls")
        assert (other.returncode, "take it down first" in other.stderr) == (1, True)
    finally:
        down = command_line("druid", "down", *where)
    assert (down.returncode, down.stderr) == (0, "stopped\n")
    assert commands_in(tmp_path) == []
    assert command_line("druid", "down", *where).stderr == "nothing runs there\n"


SHARING = """
import pathlib
import time

from testbed.druid_plugin import druid, share_druid


def test_url(druid, worker_id):
    pathlib.Path(__file__).with_name(f"{worker_id}.url").write_text(druid.url)
    while pathlib.Path(__file__).with_name("wait").exists():
        time.sleep(0.05)
"""


@campaign("a Druid is started and stopped from the command line")
def test_shared_druid_ends_when_the_test_run_is_killed(tmp_path: Path) -> None:
    (tmp_path / "test_sharing.py").write_text(SHARING)
    (tmp_path / "wait").touch()
    quiet = subprocess.DEVNULL
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "DRUIDOPS_DRUID"}
    options = ["--numprocesses", "2", "--dist", "each", "--basetemp", str(tmp_path / "base"), "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "--quiet", "--rootdir", str(tmp_path), *options, str(tmp_path)]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=quiet, stderr=quiet) as run:
        urls = eventually(lambda: both(tmp_path), timeout=240)
        (running,) = Processes(next((tmp_path / "base").glob("druid-*-open"))).running()
        run.kill()
    (tmp_path / "wait").unlink()
    assert len(urls) == 1
    eventually(lambda: not running.alive and not commands_in(tmp_path))


def both(directory: Path) -> set[str]:
    """The URLs that the two test processes have written, once both have."""
    written = [file.read_text() for file in directory.glob("*.url")]
    return set(written) if len(written) == 2 and all(written) else set()
