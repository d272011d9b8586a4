# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Unknown variables with the prefix of a role."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import COLLECTOR
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action import (
    MAX_CHARACTERS,
    UnknownVariables,
    listed,
    names_of,
    unknown_variables,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS


def found(*names: str, ignored: tuple[str, ...] = (), kind: Kind[Any, Any, Any] = DRUID) -> UnknownVariables:
    known = names_of(kind.prefix, {**ARGUMENTS, **kind.arguments}, kind.role_variables)
    return unknown_variables(kind.prefix, known, names, ignored)


# (name, suggested known variable)
MISTYPED = [
    ("nmae", "name"),
    ("names", "name"),
    ("namespac", "namespace"),
    ("namespases", "namespace"),
    ("wait_timeuot", "wait_timeout"),
    ("wiat", "wait"),
    ("sate", "state"),
    ("check_finalizer", None),
    ("State", "state"),
    ("instal_crds", "install_crds"),
    ("print_results", "print_result"),
    ("ignored_variable", "ignored_variables"),
    ("owner", None),
    ("retry_timeout_seconds", None),
    ("", None),
]


@pytest.mark.parametrize(("name", "known"), MISTYPED)
def test_typing_error_is_an_error_and_another_unknown_variable_a_warning(name: str, known: str | None) -> None:
    unknown = found(f"druid_cluster_{name}")
    expected = {f"druid_cluster_{name}": f"druid_cluster_{known}"} if known else {}
    assert unknown.mistyped == expected
    assert unknown.others == (() if known else (f"druid_cluster_{name}",))
    assert (unknown.error is None, unknown.warning is None) == (known is None, known is not None)


@pytest.mark.parametrize(
    "kind", [DRUID, INGESTION, COLLECTOR], ids=["druid_cluster", "druid_ingestion", "druid_collector"]
)
def test_known_variables_and_other_prefixes_are_not_reported(kind: Kind[Any, Any, Any]) -> None:
    own = [f"{kind.prefix}{name}" for name in (*ARGUMENTS, *kind.arguments, "result", "print_result")]
    others = ["druid_clusters", "druid_cluster", "__druid_cluster_lines", "druid_ingestions_x", "druidclusternmae"]
    assert found(*own, *others, kind=kind) == UnknownVariables(kind.prefix, {}, ())


def test_install_crds_is_a_variable_of_one_role() -> None:
    assert found("druid_cluster_install_crds").others == ()
    assert found("druid_ingestion_install_crds", kind=INGESTION).others == ("druid_ingestion_install_crds",)


def test_ignored_variables_are_not_reported_even_if_similar() -> None:
    own = ("druid_cluster_names", "druid_cluster_owner")
    assert found(*own).mistyped == {"druid_cluster_names": "druid_cluster_name"}
    assert found(*own, ignored=own) == UnknownVariables("druid_cluster_", {}, ())


def test_messages_name_the_variables_and_the_remedy() -> None:
    unknown = found("druid_cluster_nmae", "druid_cluster_owner")
    remedy = "If they are your own variables, list their names in druid_cluster_ignored_variables."
    assert unknown.error == (
        "Unknown variables: druid_cluster_nmae (did you mean druid_cluster_name?). Rename or remove them. " + remedy
    )
    assert unknown.warning == f"Unknown variables have no effect: druid_cluster_owner. {remedy}"


def test_messages_are_truncated_and_printable() -> None:
    many = found(*(f"druid_cluster_owner_{number}{'x' * 500}\x1b[2J" for number in range(100)))
    assert many.warning is not None
    assert many.warning.isprintable()
    assert "and 95 more" in many.warning
    assert len(many.warning) < 6 * MAX_CHARACTERS + 200


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, ()), ([], ()), (["a", "b"], ("a", "b")), ("a, b", ("a", "b")), (("a",), ("a",)), ([1], ("1",))],
)
def test_list_is_parsed_as_by_ansible(value: Any, expected: tuple[str, ...]) -> None:
    assert listed(value) == expected
