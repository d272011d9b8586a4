# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The hash of a ConfigMap matches Go's, for both of its JSON encodings."""

from __future__ import annotations

import base64
import hashlib

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.config_map_hash import config_map_hashes
from hypothesis import given
from hypothesis import strategies as st

# Computed by encoding/json and crypto/sha1 of Go 1.26.8 and of Go 1.21.13 for the ConfigMap in hashes_of().
COMPUTED_BY_GO = [
    ("plain=1\n", "3h/qKKI3Y5bBgbpW6bdEAGwfWsY=", "3h/qKKI3Y5bBgbpW6bdEAGwfWsY="),
    ("<a> & 'b' \"c\"", "SsM6L/xjLs9JvzO6WX7wrAn9NNQ=", "SsM6L/xjLs9JvzO6WX7wrAn9NNQ="),
    ("back\\slash \\b \\f \\\\b", "NudDLmOfLYhoE3Ho7cRLNz+rWYM=", "NudDLmOfLYhoE3Ho7cRLNz+rWYM="),
    ("bell\x07 nul\x00 esc\x1b del\x7f", "jeoWe9N35pYzI6MoFZLZiYvXheg=", "jeoWe9N35pYzI6MoFZLZiYvXheg="),
    ("tab\t cr\r lf\n", "XWxHRAPOqIkbCj5AVLoJIt8qwts=", "XWxHRAPOqIkbCj5AVLoJIt8qwts="),
    ("backspace\b formfeed\f", "odRLxABXyc7JTyEQ0UFXkkdOSDo=", "y1X9dDXj2mMdqWdTmYZmulhYsC0="),
    ("both \\b\b\\f\f\\\\\b", "ZSn4BSiBiXx7sJOC3z15T4n4WWg=", "gbAIh2jzO0Apyv2OM1rA0mRuP4A="),
    ("\u2028\u2029\ufeff\ufffd\u0085\u00a0", "8QTLU+SmFieANLfGZX8FXTX5VCw=", "8QTLU+SmFieANLfGZX8FXTX5VCw="),
    ("\u00e9\u2603\U0001f600", "Y1AwO/+LYcSmTOzYIQATnH4wOLw=", "Y1AwO/+LYcSmTOzYIQATnH4wOLw="),
    ("{{ x }} %s %d ${y} __ansible_unsafe", "l5lCw417ZKlMyzScnWLGtj8L1oQ=", "l5lCw417ZKlMyzScnWLGtj8L1oQ="),
    ("", "tDsdjMepvB9a7T9MlFyOSDQvNtM=", "tDsdjMepvB9a7T9MlFyOSDQvNtM="),
    ("\x01\x02\x0b\x0e\x1f", "lFVgAHkzo8j4zwbehlQ8ZZrdxrY=", "lFVgAHkzo8j4zwbehlQ8ZZrdxrY="),
]


def hashes_of(text: str) -> tuple[str, str]:
    return config_map_hashes("n", "ns", {"b": "2", "a": "1"}, {"z": text, "a.b": "x"})


@pytest.mark.parametrize(("text", "newer", "older"), COMPUTED_BY_GO)
def test_hashes_match_those_of_go(text: str, newer: str, older: str) -> None:
    assert hashes_of(text) == (newer, older)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_hashes_follow_the_escaping_rules_of_go(text: str) -> None:
    assert hashes_of(text) == (digest_of(text, short=True), digest_of(text, short=False))


@given(st.text('\\bfu0c\b\f\x00"<'))
def test_escaped_backslashes_are_not_control_characters(text: str) -> None:
    assert hashes_of(text) == (digest_of(text, short=True), digest_of(text, short=False))


def test_lone_surrogate_is_hashed() -> None:
    assert hashes_of("\ud800")[0] != hashes_of("")[0]


def digest_of(text: str, short: bool) -> str:
    """Return the hash of the same ConfigMap, encoded character by character."""
    escaped = "".join(escape(character, short) for character in text)
    metadata = '"metadata":{"name":"n","namespace":"ns","creationTimestamp":null,"labels":{"a":"1","b":"2"}}'
    document = '{"kind":"ConfigMap","apiVersion":"v1",' + metadata + ',"data":{"a.b":"x","z":"' + escaped + '"}}'
    return base64.b64encode(hashlib.sha1(document.encode()).digest()).decode()


def escape(character: str, short: bool) -> str:
    named = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if short:
        named |= {"\b": "\\b", "\f": "\\f"}
    if character in named:
        return named[character]
    return f"\\u{ord(character):04x}" if character < " " or character in "<>&\u2028\u2029" else character
