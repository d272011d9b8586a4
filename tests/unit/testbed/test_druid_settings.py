# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The settings of Druid's servers, and how Java reads them."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.testbed.druid.configurations import CONFIGURATIONS, configuration
from ansible_collections.druidops.druid.tests.testbed.druid.jvm import APART, TOGETHER, quoted
from ansible_collections.druidops.druid.tests.testbed.druid.settings import (
    DRUID_SERVERS,
    PORTS,
    SECOND_SERVERS,
    SERVERS,
    Layout,
    Passwords,
    Settings,
    properties,
    settings,
)
from hypothesis import given
from hypothesis import strategies as st

LAYOUT = Layout(Path("/where"), {name: 20000 + number for number, name in enumerate(PORTS)})
PASSWORDS = Passwords("of the administrator", "of the servers", "of the stores")


def of(name: str) -> dict[str, Settings]:
    """The settings in a configuration."""
    return settings(LAYOUT, configuration(name), PASSWORDS)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_server_has_settings_and_a_port_of_its_own(name: str) -> None:
    found = of(name)
    assert set(found) == {*SERVERS, *SECOND_SERVERS}
    port = "druid.tlsPort" if configuration(name).tls else "druid.plaintextPort"
    servers = (*DRUID_SERVERS, *SECOND_SERVERS)
    assert len({found[server][port] for server in servers}) == len(servers)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_everything_listens_on_loopback(name: str) -> None:
    found = of(name)
    for server in (*DRUID_SERVERS, *SECOND_SERVERS):
        assert (found[server]["druid.host"], found[server]["druid.bindOnHost"]) == ("127.0.0.1", "true")
    assert found["zookeeper"]["clientPortAddress"] == "127.0.0.1"
    assert all("//127.0.0.1:" in each for each in found["kafka"]["listeners"].split(","))


@pytest.mark.parametrize(
    ("name", "plain"), [("open", None), ("basic", None), ("tls", "false"), ("mutual-tls", "false")]
)
def test_plain_http_is_off_with_tls(name: str, plain: str | None) -> None:
    assert {of(name)[server].get("druid.enablePlaintextPort") for server in DRUID_SERVERS} == {plain}


def test_each_password_is_only_where_it_is_needed() -> None:
    holders = {
        each.name: {name for name in CONFIGURATIONS if getattr(PASSWORDS, each.name) in str(of(name))}
        for each in fields(Passwords)
    }
    assert holders == {"admin": {"basic"}, "internal": {"basic"}, "stores": {"tls", "mutual-tls"}}
    assert "of the" not in repr(PASSWORDS)


def test_unknown_configuration_is_rejected_with_the_choices() -> None:
    with pytest.raises(
        ValueError, match="no configuration is called secret; choose one of open, basic, tls, mutual-tls"
    ):
        configuration("secret")


@pytest.mark.parametrize("jvms", [TOGETHER, APART])
def test_jvms_start_every_server_once_and_in_order(jvms: tuple[object, ...]) -> None:
    started = [server for jvm in jvms for server in jvm.servers]  # type: ignore[attr-defined]
    assert started == list(SERVERS)


def read(text: str) -> Settings:
    """What java.util.Properties reads, as far as we use its syntax."""
    found = {}
    for line in text.split("\n")[:-1]:
        name, _equals, value = line.partition("=")
        found[name] = unescaped(value.lstrip(" \t\f"))
    return found


def unescaped(value: str) -> str:
    """A value without Java's escapes."""
    characters = iter(value)
    meant = {"n": "\n", "r": "\r"}
    return "".join(meant.get(following := next(characters), following) if each == "\\" else each for each in characters)


@given(st.text(st.characters(codec="utf-8")))
def test_java_reads_the_value_that_was_written(value: str) -> None:
    assert read(properties({"name": value})) == {"name": value}


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0")))
def test_java_reads_the_argument_that_was_written(argument: str) -> None:
    # inside double quotes both know an escape for the backslash and one for the quote
    assert shlex.split(quoted(argument)) == [argument]
