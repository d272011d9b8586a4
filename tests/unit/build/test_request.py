# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the client of the resident process sends."""

from __future__ import annotations

import hypothesis
from ansible_collections.druidops.druid.build.runner.message import Request, decode, encode, length
from hypothesis import strategies as st

NAMES = st.binary(min_size=1).map(lambda name: name.replace(b"\0", b"").replace(b"=", b"")).filter(bool)
TEXTS = st.binary().map(lambda text: text.replace(b"\0", b""))


@hypothesis.given(st.lists(TEXTS), TEXTS, st.dictionaries(NAMES, TEXTS))
def test_request_arrives_as_it_was_sent(
    arguments: list[bytes], directory: bytes, environment: dict[bytes, bytes]
) -> None:
    data = encode(Request(arguments, directory, environment))
    assert vars(decode(data)) == {"arguments": arguments, "directory": directory, "environment": environment}
    assert length(data) == len(data)
    assert length(data[:3]) == 4
