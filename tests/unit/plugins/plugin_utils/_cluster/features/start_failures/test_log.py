# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the end of a log means: logs of real Druids, and single lines of Java, drivers and start scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.start_failures.log import (
    obstacle,
    reason_of_end,
)
from hypothesis import given
from hypothesis import strategies as st

REAL = yaml.safe_load(Path(__file__).with_name("logs.yml").read_text(encoding="utf-8"))
MAIN = 'Exception in thread "main" '
FAILING = "2026-01-02T00:00:00,000 ERROR [main] org.apache.druid.cli.CliBroker - Error when starting up.  Failing.\n"
REFUSED = "ZooKeeper cannot be reached (no connection to zk.example.com:2181): check druid.zk.service.host, and that "
LOST = (
    "2026-01-02T00:00:0{},000 WARN [main-SendThread(zk.example.com:2181)] org.apache.zookeeper.ClientCnxn - "
    "Session 0x0 for server zk.example.com/10.1.2.3:2181, Closing socket connection. Attempting reconnect except it is "
    "a SessionExpiredException.\n"
)
CONNECTED = "2026-01-02T00:00:09,000 INFO [main-SendThread()] ClientCnxn - Session establishment complete\n"

LINES = [
    (
        "a class of a newer Java",
        f"{MAIN}java.lang.UnsupportedClassVersionError: org/apache/druid/cli/Main has been compiled by a more recent "
        "version of the Java Runtime (class file version 61.0), this version of the Java Runtime only recognizes class "
        "file versions up to 55.0",
        "the class org.apache.druid.cli.Main needs Java 17 or newer, and this is Java 11",
    ),
    (
        "a missing class",
        "Error: Could not find or load main class org.apache.druid.cli.Main\nCaused by: java.lang."
        "ClassNotFoundException: org.apache.druid.cli.Main",
        "Java does not find the class org.apache.druid.cli.Main: check image, command and working directory",
    ),
    ("an unknown option", "Unrecognized option: -Xnope\nError: Could not create the Java Virtual Machine.", "-Xnope"),
    (
        "a start script that cannot write",
        "2026-01-02T00:00:00+00:00 startup service broker\nmkdir: cannot create directory 'var/tmp': Permission denied",
        "mkdir: cannot create directory 'var/tmp': Permission denied",
    ),
    (
        "a start script without its variable",
        "/druid.sh: line 153: DRUID_X: unbound variable",
        "/druid.sh: DRUID_X: unbound variable",
    ),
    (
        "a full disk",
        f"{FAILING}java.lang.RuntimeException: no\nCaused by: java.io.IOException: No space left on device",
        "a disk is full (No space left on device): enlarge its volume",
    ),
    (
        "a directory of another user",
        f"{FAILING}java.lang.RuntimeException: no\n"
        "Caused by: java.nio.file.AccessDeniedException: /opt/druid/var/segments",
        "no permission for /opt/druid/var/segments: check its volume, and the user of the pod",
    ),
    (
        "a file that is not mounted",
        f"{FAILING}java.io.FileNotFoundException: /etc/druid/trust.jks (No such file or directory)",
        "the file /etc/druid/trust.jks does not exist",
    ),
    (
        "a password that the metadata store refuses",
        f"{FAILING}org.skife.jdbi.v2.exceptions.UnableToObtainConnectionException: java.sql.SQLException: Cannot "
        'create PoolableConnectionFactory (FATAL: password authentication failed for user "druid")',
        "the metadata store refuses the connection, or cannot be reached: FATAL: password authentication failed for "
        'user "druid"',
    ),
    (
        "a closed package of Java",
        f"{MAIN}java.lang.reflect.InaccessibleObjectException: Unable to make field accessible: module java.base does "
        'not "opens java.lang" to unnamed module @1b2c3d4e',
        "Java needs an option --add-opens: Unable to make field accessible: module java.base",
    ),
    (
        "a class that an extension has",
        f"{FAILING}java.lang.RuntimeException: no\n"
        "Caused by: java.lang.NoClassDefFoundError: org/apache/hadoop/fs/Path",
        "the class org.apache.hadoop.fs.Path is in no jar: check the spelling",
    ),
    (
        "another exception: its last cause that tells more",
        f"{FAILING}java.lang.RuntimeException: com.example.SadException\n"
        "Caused by: com.example.SadException: the server key of org.example.Thing@1b2c3d4e is empty\n"
        "Caused by: java.lang.NullPointerException: null\n",
        "its log has: SadException: the server key of org.example.Thing is empty",
    ),
    (
        "ended after it has lost ZooKeeper",
        f"{LOST.format(1)}{LOST.format(2)}2026-01-02T00:00:03,000 INFO [main] - stopping\n",
        REFUSED,
    ),
]


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: str(entry["name"]))
def test_real_logs(entry: dict[str, str]) -> None:
    assert reason_of_end(entry["log"], str) == entry["reason"]


@pytest.mark.parametrize(("log", "reason"), [row[1:] for row in LINES], ids=[row[0] for row in LINES])
def test_single_lines(log: str, reason: str) -> None:
    assert reason in reason_of_end(log, str)


@pytest.mark.parametrize(
    "log",
    [
        "",
        "2026-01-02T00:00:00,000 INFO [main] org.apache.druid.X - ClassNotFoundException: only a remark\n",
        f"2026-01-02 WARN - java.io.IOException: No space left on device\n{CONNECTED}2026-01-02 INFO - Started\n",
        f"{LOST.format(1)}{CONNECTED}",
    ],
    ids=["nothing", "a remark", "a warning", "connected again"],
)
def test_nothing_is_claimed_that_the_log_does_not_show(log: str) -> None:
    assert (reason_of_end(log, str), obstacle(log, str, [8082])) == ("", "")


def test_ports_that_agree_or_are_not_known() -> None:
    log = "INFO [main] o.e.j.s.AbstractConnector - Started ServerConnector@1a{HTTP/1.1, (http/1.1)}{0.0.0.0:9999}"
    assert "listens on port 9999, but its probe asks port 8082" in obstacle(log, str, [8082])
    tls = "INFO [main] o.e.j.s.AbstractConnector - Started ServerConnector@1b{SSL, (ssl, http/1.1)}{0.0.0.0:8282}"
    assert obstacle(f"{log}\n{tls}", str, [8282]) == ""
    assert obstacle(log, str, []) == ""
    assert obstacle("a line", str, [8082]) == ""


def test_lost_zookeeper() -> None:
    assert obstacle(f"{CONNECTED}{LOST.format(1)}", str, []).startswith(REFUSED)


PARTS = st.sampled_from(
    [MAIN, FAILING, "\n1) ", "Caused by: ", "java.lang.X: ", LOST, "\x1b[31m", "\u202e", "\ue0f0", "\n"]
)


@given(st.lists(PARTS | st.text(max_size=400)).map("".join))
def test_any_text_gives_one_short_line(text: str) -> None:
    for found in (reason_of_end(text, str), obstacle(text, str, [1])):
        assert len(found) <= 420
        assert found.isprintable()
