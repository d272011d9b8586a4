# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compaction and retention rules of a datasource have one owner each, the oldest resource that specifies them."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import COMPACTION, RETENTION_RULES
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, to_config_map
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import (
    FIELDS,
    findings,
    is_specified_by_another,
    older_owners,
    without_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import Inputs, Observed
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    asking,
    ingestion,
)
from hypothesis import given
from hypothesis import strategies as st

RULES = [{"type": "loadForever"}]
BOTH = {"rules": RULES, "compaction": {}}
OTHER = {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "other"}}}


COMPACTION_SUPERVISOR = {"type": "autocompact", "spec": {"dataSource": "pages"}}


def one(name: str, created: str = "", document: Any = None, *, kind: str = "native-batch", **more: Any) -> Ingestion:
    """Return an ingestion into the datasource pages."""
    metadata = {
        "creationTimestamp": created or f"2026-01-0{'abc'.index(name) + 1}T00:00:00Z",
        **more.pop("metadata", {}),
    }
    return ingestion(kind, document or BATCH, name=name, metadata=metadata, **more)


A, B = (one(name, ingestion=BOTH) for name in "ab")


@pytest.mark.parametrize(
    ("own", "others", "owners"),
    [
        (B, [A], {"compaction": "a", "rules": "a"}),
        (A, [B], {}),
        (B, [], {}),
        (one("c", ingestion=BOTH), [B, A], {"compaction": "a", "rules": "a"}),
        # each field has an owner of its own
        (B, [one("a", ingestion={"rules": RULES})], {"rules": "a"}),
        (B, [one("a", ingestion={"compaction": {}})], {"compaction": "a"}),
        (B, [one("a")], {}),
        (one("b", ingestion={"rules": RULES}), [A], {"rules": "a"}),
        (one("b"), [A], {}),
        # no rules are not specified rules
        (B, [one("a", ingestion={"rules": []})], {}),
        # created in the same second: ordered by uid
        (one("b", A.created, ingestion=BOTH), [A], {"compaction": "a", "rules": "a"}),
        # others
        (B, [one("a", document=OTHER, ingestion=BOTH)], {}),
        (B, [one("a", ingestion=BOTH, druidCluster="other")], {}),
        (B, [one("a", ingestion={**BOTH, "nativeSpec": None, "spec": "{"})], {}),
        (B, [one("a", ingestion=BOTH, metadata={"deletionTimestamp": "2026-01-09T00:00:00Z"})], {}),
        # a compaction supervisor always owns the compaction, and nothing else
        (B, [one("a", document=COMPACTION_SUPERVISOR, kind="autocompact")], {"compaction": "a"}),
        (A, [one("b", document=COMPACTION_SUPERVISOR, kind="autocompact")], {"compaction": "b"}),
        (
            A,
            [one("b", document=COMPACTION_SUPERVISOR, kind="autocompact", ingestion={"rules": RULES})],
            {"compaction": "b"},
        ),
        (one("b", document=COMPACTION_SUPERVISOR, kind="autocompact"), [A], {}),
        (B, [one("a", document={"spec": {"dataSource": "other"}}, kind="autocompact")], {}),
        # of all types
        (B, [one("a", kind="kafka", ingestion=BOTH)], {"compaction": "a", "rules": "a"}),
    ],
)
def test_oldest_resource_owns_each_field(own: Ingestion, others: list[Ingestion], owners: dict[str, str]) -> None:
    assert older_owners(own, others) == owners


@given(
    st.lists(
        st.builds(
            lambda day, fields, name: one(name, f"2026-01-0{day}T00:00:00Z", ingestion={f: BOTH[f] for f in fields}),
            st.integers(1, 3),
            st.sets(st.sampled_from(FIELDS)),
            st.sampled_from("abc"),
        ),
        unique_by=lambda each: each.name,
    )
)
def test_each_specified_field_has_exactly_one_owner(resources: list[Ingestion]) -> None:
    for field in FIELDS:
        specifying = [
            each for each in resources if (each.compaction if field == "compaction" else each.rules) is not None
        ]
        not_owners = [
            each for each in specifying if field in older_owners(each, [one for one in resources if one is not each])
        ]
        assert len(specifying) - len(not_owners) == (1 if specifying else 0)


@pytest.mark.parametrize("own", [A, B])
def test_field_of_another_is_kept(own: Ingestion) -> None:
    [other] = {A.name: [B], B.name: [A]}[own.name]
    assert is_specified_by_another(own, [other], "rules", "pages")
    assert not is_specified_by_another(own, [other], "rules", "other")
    assert not is_specified_by_another(own, [], "compaction", "pages")


def test_problem_names_the_owner_and_the_datasource() -> None:
    [finding] = findings(B, {"rules": "a"})
    assert finding.reason == "DuplicateDatasourceConfig"
    assert finding.message.startswith(
        "DruidIngestion a, which is older or a compaction supervisor, also specifies the retention rules of datasource "
        "pages, and owns them"
    )


def test_fields_of_another_are_removed_from_the_specification() -> None:
    assert without_fields(B, ["rules"]).specified == one("b", ingestion={"compaction": {}}).specified


def inputs_of(own: Ingestion, siblings: list[Ingestion], record: LastApplied | None = None) -> Inputs:
    client: Any = FakeDruid({"/druid/coordinator/v1/rules/pages": RULES, "/druid/coordinator/v1/rules/other": RULES})
    stored = None if record is None else to_config_map(record, own)
    return Inputs(own, Observed(record=stored, siblings=tuple(siblings)), asking(client))


def kinds(inputs: Inputs) -> list[str]:
    return [change.kind for change in inputs.datasource]


RECORDED = LastApplied(B.specified, "t", druid=B.target)
DROPPED = one("b")


@pytest.mark.parametrize(
    ("own", "siblings", "record", "expected"),
    [
        (B, [], None, [COMPACTION, RETENTION_RULES]),
        (B, [A], None, []),
        # it was the owner, and an older resource specifies them now
        (B, [A], RECORDED, []),
        # it does not specify them any more: removed, unless a resource specifies them, older or younger
        (DROPPED, [], RECORDED, [COMPACTION, RETENTION_RULES]),
        (DROPPED, [A], RECORDED, []),
        (DROPPED, [one("c", ingestion=BOTH)], RECORDED, []),
        (DROPPED, [one("c", ingestion={"rules": RULES})], RECORDED, [COMPACTION]),
        (DROPPED, [one("c", document=COMPACTION_SUPERVISOR, kind="autocompact")], RECORDED, [RETENTION_RULES]),
        # the datasource has changed: that of the former one stays with its data
        (one("b", document=OTHER, ingestion=BOTH), [], RECORDED, [COMPACTION, RETENTION_RULES]),
        (one("b", document=OTHER), [], RECORDED, []),
        (one("b", document={"query": "REPLACE ..."}, kind="sql"), [], RECORDED, []),
    ],
)
def test_only_the_owner_writes_and_removes(
    own: Ingestion, siblings: list[Ingestion], record: LastApplied | None, expected: list[str]
) -> None:
    assert kinds(inputs_of(own, siblings, record)) == expected


@pytest.mark.parametrize(
    ("own", "siblings", "kept"),
    [
        (one("b", document=OTHER, ingestion=BOTH), [], "compaction and retention rules"),
        (one("b", document=OTHER), [], "compaction and retention rules"),
        (one("b", document={"query": "REPLACE ..."}, kind="sql"), [], "compaction and retention rules"),
        (one("b", document=OTHER), [one("a", ingestion={"rules": RULES})], "compaction"),
        (one("b", document=OTHER), [A], None),
        (DROPPED, [], None),
    ],
)
def test_warns_of_what_a_former_datasource_keeps(own: Ingestion, siblings: list[Ingestion], kept: str | None) -> None:
    found = inputs_of(own, siblings, RECORDED)

    about = [text for text in decide(found).warnings if "keeps its data" in text]

    assert {change.id for change in found.datasource} <= {"pages" if own is DROPPED else "other"}
    assert len(about) == (kept is not None)
    assert all(f"Datasource pages keeps its data and its {kept}, " in text for text in about)


def test_record_does_not_have_what_another_owns() -> None:
    plan = decide(inputs_of(B, [A]))
    saved = [record.specified for record in plan.saved if record]
    assert [{"rules", "compaction"} & {*each} for each in saved] == [set()] * len(saved)
    assert [each.reason for each in plan.findings] == ["DuplicateDatasourceConfig"] * 2


def test_one_owner_in_any_order_of_the_list() -> None:
    resources = [one(name, ingestion=BOTH) for name in "abc"]
    for own in resources:
        others = [each for each in resources if each is not own]
        found = {tuple(sorted(older_owners(own, list(order)).items())) for order in permutations(others)}
        assert len(found) == 1
