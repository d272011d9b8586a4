# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""YAML of a chart, or of a Secret that other clients may have written."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import (
    MAX_BYTES,
    UnreadableRelease,
    documents,
)

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def one(name: str) -> str:
    return f"{{kind: {name}, apiVersion: v1, metadata: {{name: one}}}}"


def test_documents() -> None:
    text = f"---\n# Source: a\n{OBJECT}data:\n  x: |\n    ---\n    y\n---\n\n--- \n{one('B')}"
    assert [each["kind"] for each in documents(text)] == ["ConfigMap", "B"]
    named = "apiVersion: a.example.com/v1\nkind: A\nmetadata: {name: 'system:a.b', namespace: c-1, labels: null}\n"
    assert len(documents(named)) == 1


def test_items_are_opened_as_helm_does() -> None:
    inner = f"{{kind: ConfigMap, apiVersion: v1, items: [{one('A')}]}}"
    for kind in ("List", "ConfigMap", "Anything"):
        listed = f"kind: {kind}\napiVersion: v1\nitems: [{inner}, {one('B')}]"
        assert [each["kind"] for each in documents(listed)] == ["A", "B"]


@pytest.mark.parametrize(
    "text",
    [
        "just text",
        "a: [",
        "kind: A",
        f"{OBJECT}items:",
        f"{OBJECT}items: {{a: b}}",
        f"{OBJECT}items: [{{a: b}}]",
        "apiVersion: v1\nkind: ConfigMap\ndata: {}",
        "apiVersion: v1\nkind: [a]\nmetadata: {name: a}",
        *(f"apiVersion: {each}\nkind: A\nmetadata: {{name: a}}" for each in ("../v1", "a/b/v1", "v1/..", "[v1]")),
        *(
            f"apiVersion: v1\nkind: A\nmetadata: {{{each}}}"
            for each in ("name: 1", "name: ''", "name: ..", "name: a/b", "name: a%2fb", "generateName: a-")
        ),
        "apiVersion: v1\nkind: A\nmetadata: {name: a, namespace: ..}",
        "apiVersion: v1\nkind: A\nmetadata: {name: a, annotations: [a]}",
        "apiVersion: v1\nkind: A\nmetadata: {name: a, labels: 1}",
    ],
)
def test_what_is_no_object(text: str) -> None:
    with pytest.raises(UnreadableRelease):
        documents(text)


def bomb(leaf: str) -> str:
    levels = [f"a0: &a0 {leaf}"]
    levels += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 10)]
    return OBJECT + "\n".join(levels)


@pytest.mark.parametrize("leaf", ["[x]", "{x: y}", "text", "1"])
def test_anchors_do_not_multiply(leaf: str) -> None:
    with pytest.raises(UnreadableRelease, match="too large"):
        documents(bomb(leaf))


def test_sizes() -> None:
    with pytest.raises(UnreadableRelease, match="too large"):
        documents(f"{OBJECT}a: &a {'x' * 2000}\nb: [{', '.join(['*a'] * (MAX_BYTES // 2000))}]")
    with pytest.raises(UnreadableRelease, match="too large"):
        documents(f"{OBJECT}a: &a [*a]")
    assert len(documents(f"{OBJECT}a: &a {{b: c}}\nd: [*a, *a]\ne: {'x' * 2**20}")) == 1
