# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lookups that another client has changed, whose response is lost, or that no server can load."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from ansible_collections.druidops.druid.tests.system.support.druid_lookups import remove_lookups
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, share_druid
from testbed.recording_proxy import Loss

__all__ = ["druid", "share_druid"]

CONFIG = "/druid/coordinator/v1/lookups/config"


@pytest.fixture
def direct(druid: Druid) -> Iterator[Direct]:
    with direct_on(druid) as found:
        yield found


@pytest.fixture
def name(druid: Druid) -> Iterator[str]:
    """A name of a lookup, in a Druid that accepts some."""
    name = f"l{secrets.token_hex(4)}"
    remove_lookups(druid, name)
    yield name
    remove_lookups(druid, name)


def spec(value: str) -> dict[str, Any]:
    return {"lookupExtractorFactory": {"type": "map", "map": {"a": value}}}


def test_lookup_of_another_client_is_replaced_on_the_servers(direct: Direct, name: str) -> None:
    direct.druid.request("POST", f"{CONFIG}/__default/{name}", {**spec("theirs"), "version": "v9"})
    result = direct.lookup(id=name, spec=spec("ours"), wait=True)
    assert result["version"].startswith("v9-")
    assert direct.druid.query(f"SELECT LOOKUP('a', '{name}') AS found") == [{"found": "ours"}]


def test_lookup_whose_response_is_lost(direct: Direct, name: str) -> None:
    direct.proxy.fail_next(Loss.CUT, method="POST", path=f"/{name}$")
    result = direct.lookup(id=name, spec=spec("b"))
    assert "took effect despite this error" in result["warnings"][0]
    assert not direct.lookup(id=name, spec=spec("b"))["changed"]


def test_lookup_that_no_server_can_load(direct: Direct, name: str) -> None:
    factory = {"type": "of-another-extension", "connectorConfig": {"password": "hunter2, of mine"}}
    with pytest.raises(PartialFailure, match=r"Not loaded by: 127\.0\.0\.1:\d+, .*the log of these servers") as error:
        direct.lookup(id=name, spec={"lookupExtractorFactory": factory}, custom_type=True, wait=True, wait_timeout=3.0)
    assert error.value.result["changed"]
    assert "hunter2" not in f"{error.value} {error.value.result}"
