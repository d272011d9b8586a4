# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the client of the resident process sends, and when the ordinary runner has to run instead."""

from __future__ import annotations

import hypothesis
import pytest
from ansible_collections.druidops.druid.build.runner.message import encode, length
from ansible_collections.druidops.druid.build.runner.request import Request, decode
from ansible_collections.druidops.druid.build.runner.same_start import ordinary_reason
from hypothesis import strategies as st

START = {b"PATH": b"/bin", b"ANSIBLE_CONFIG": b"/etc/ansible.cfg", b"KUBECONFIG": b"/tmp/1", b"SHLVL": b"1"}
OF_RUN = {b"KUBECONFIG": b"/tmp/2", b"K8S_AUTH_KUBECONFIG": b"/tmp/2", b"SHLVL": b"3", b"_": b"/bin/sh"}

NAMES = st.binary(min_size=1).map(lambda name: name.replace(b"\0", b"").replace(b"=", b"")).filter(bool)
TEXTS = st.binary().map(lambda text: text.replace(b"\0", b""))


@hypothesis.given(st.lists(TEXTS), TEXTS, st.dictionaries(NAMES, TEXTS))
def test_request_arrives_as_it_was_sent(
    arguments: list[bytes], directory: bytes, environment: dict[bytes, bytes]
) -> None:
    request = Request(arguments, directory, environment)
    data = encode(*request)
    assert decode(data) == request
    assert length(data) == len(data)
    assert length(data[:3]) == 4


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, ""),
        (OF_RUN, ""),
        ({b"ANSIBLE_CONFIG": b"/other.cfg"}, "ANSIBLE_CONFIG"),
        ({b"PYTHONPATH": b"", b"HOME": b"/"}, "HOME, PYTHONPATH"),
    ],
)
def test_environment_has_to_be_that_of_the_start(changes: dict[bytes, bytes], names: str) -> None:
    request = Request([b"run", b"/tmp"], b"/", {**START, **changes})
    reason = ordinary_reason(request, START)
    expected = f"the environment differs from that of the resident process: {names}"
    assert reason == (expected if names else "")


def test_missing_variable_is_a_difference() -> None:
    environment = {name: value for name, value in START.items() if name != b"ANSIBLE_CONFIG"}
    assert ordinary_reason(Request([b"run", b"/tmp"], b"/", environment), START).endswith(": ANSIBLE_CONFIG")


@pytest.mark.parametrize("arguments", [[], [b"run"], [b"start", b"/tmp"]])
def test_other_commands_are_left_to_the_ordinary_runner(arguments: list[bytes]) -> None:
    assert ordinary_reason(Request(arguments, b"/", START), START) == "the arguments are unknown"
