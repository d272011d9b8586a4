# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The finalizer is set and removed as by the Go operator."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import (
    deletes_claims,
    has_lost_its_objects,
    is_orphaning,
    is_set,
    keep_finalizer,
    objects_without_owner,
    record_deletion,
    remove_finalizer,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import FieldSet
from ansible_collections.druidops.druid.tests.simulator.server import json_patch
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged, entry

Manifest = dict[str, Any]

FINALIZER = "deletepvc.finalizers.druid.apache.org"
FOREIGN = "example.com/keep"
DELETES_PVCS = "druid.apache.org/deletes-pvcs"


def resource(finalizers: list[str] | None, **spec: Any) -> Manifest:
    found = druid.resource(**spec)
    found["metadata"] |= {"finalizers": finalizers, "resourceVersion": "7"}
    return found


# (disablePVCDeletionFinalizer, finalizers, finalizers afterwards; None: unchanged)
FINALIZERS: list[tuple[bool | None, list[str] | None, list[str] | None]] = [
    (None, None, [FINALIZER]),
    (None, [], [FINALIZER]),
    (None, [FOREIGN], [FOREIGN, FINALIZER]),
    (None, [FINALIZER], None),
    (None, [FOREIGN, FINALIZER], None),
    (False, [], [FINALIZER]),
    (False, [FINALIZER], None),
    (True, None, None),
    (True, [FOREIGN], None),
    (True, [FINALIZER], []),
    (True, [FINALIZER, FOREIGN], [FOREIGN]),
]


@pytest.mark.parametrize(("disabled", "finalizers", "after"), FINALIZERS)
def test_finalizer_depends_on_the_spec(
    disabled: bool | None, finalizers: list[str] | None, after: list[str] | None
) -> None:
    spec = {} if disabled is None else {"disablePVCDeletionFinalizer": disabled}
    steps = keep_finalizer(resource(finalizers, **spec))
    assert [step.patch for step in steps] == ([] if after is None else [patch(after)])
    assert [(step.operation.verb, step.group) for step in steps] == [("update", None)] * len(steps)


@pytest.mark.parametrize(("finalizers", "after"), [([], [FINALIZER]), ([FINALIZER], None)])
def test_operator_always_has_a_finalizer(finalizers: list[str], after: list[str] | None) -> None:
    steps = keep_finalizer(resource(finalizers, disablePVCDeletionFinalizer=True), always=True)
    assert [step.patch for step in steps] == ([] if after is None else [patch(after)])


# (manager, its finalizer, whether our finalizer is kept)
SETTERS = [
    ("ansible-operator", FINALIZER, True),
    ("ansible-operator", FOREIGN, False),
    ("druidops", FINALIZER, False),
    ("manager", FINALIZER, False),
]


@pytest.mark.parametrize(("manager", "finalizer", "is_kept"), SETTERS)
def test_finalizer_set_by_the_operator_is_kept(manager: str, finalizer: str, is_kept: bool) -> None:
    found = resource([FOREIGN, FINALIZER], disablePVCDeletionFinalizer=True)
    fields: FieldSet = {"f:metadata": {"f:finalizers": {".": {}, f'v:"{finalizer}"': {}}}}
    found["metadata"]["managedFields"] = [entry(manager, fields, "Update")]
    assert (keep_finalizer(found) == ()) is is_kept
    found["metadata"]["finalizers"] = [FOREIGN]
    assert keep_finalizer(found) == ()


def patch(finalizers: list[str]) -> list[Manifest]:
    return [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/metadata/finalizers", "value": finalizers},
    ]


def test_removes_its_finalizer_from_the_same_resource_with_the_same_finalizers() -> None:
    found = resource([FOREIGN, FINALIZER])
    found["metadata"]["uid"] = "u-1"
    assert remove_finalizer(found).patch == [
        {"op": "test", "path": "/metadata/uid", "value": "u-1"},
        {"op": "test", "path": "/metadata/finalizers", "value": [FOREIGN, FINALIZER]},
        {"op": "add", "path": "/metadata/finalizers", "value": [FOREIGN]},
    ]


# With the key "a" and the record, these are all bytes that Kubernetes allows.
LONGEST = "x" * (256 * 1024 - len(f"a{DELETES_PVCS}u-1"))
# (annotations, annotations that are written)
RECORDS: list[tuple[dict[str, str] | None, dict[str, str] | None]] = [
    (None, {DELETES_PVCS: "u-1"}),
    ({"a": "b"}, {"a": "b", DELETES_PVCS: "u-1"}),
    ({DELETES_PVCS: "u-1"}, None),
    # Copied from an earlier resource.
    ({DELETES_PVCS: "u-0"}, {DELETES_PVCS: "u-1"}),
    ({DELETES_PVCS: "true"}, {DELETES_PVCS: "u-1"}),
    ({"a": LONGEST}, {"a": LONGEST, DELETES_PVCS: "u-1"}),
    # Kubernetes would reject it, and the deletion would not end.
    ({"a": f"{LONGEST}x"}, None),
]


@pytest.mark.parametrize(("annotations", "written"), RECORDS, ids=range(len(RECORDS)))
def test_deletion_is_recorded_once(annotations: dict[str, str] | None, written: dict[str, str] | None) -> None:
    found = deleted(annotations)
    steps = record_deletion(found)
    assert [(step.after or {})["metadata"]["annotations"] for step in steps] == ([] if written is None else [written])
    for step in steps:
        # Others may change the resource in the meantime, and Kubernetes does.
        later = {**found, "metadata": {**found["metadata"], "resourceVersion": "8"}}
        assert json_patch(later, step.patch or [])["metadata"]["annotations"] == written


@pytest.mark.parametrize(("value", "is_recorded"), [("u-1", True), ("u-0", False), ("true", False), ("", False)])
def test_a_record_of_another_resource_does_not_count(value: str, is_recorded: bool) -> None:
    found = deleted({DELETES_PVCS: value})
    assert has_lost_its_objects(found, Observed()) is not is_recorded
    del found["metadata"]["deletionTimestamp"]
    assert has_lost_its_objects(found, Observed())


def deleted(annotations: dict[str, str] | None) -> Manifest:
    found = resource([FINALIZER])
    found["metadata"] |= {"uid": "u-1", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    found["metadata"] |= {} if annotations is None else {"annotations": annotations}
    return found


@pytest.mark.parametrize(
    ("finalizers", "expected"), [(None, False), ([], False), ([FOREIGN], False), ([FOREIGN, FINALIZER], True)]
)
def test_is_set(finalizers: list[str] | None, expected: bool) -> None:
    assert is_set(resource(finalizers)) is expected


SPECS: list[tuple[Any, bool]] = [
    ({}, True),
    ({"disablePVCDeletionFinalizer": False}, True),
    ({"disablePVCDeletionFinalizer": None}, True),
    ({"disablePVCDeletionFinalizer": True}, False),
    (None, True),
    ("nonsense", True),
]


@pytest.mark.parametrize(("spec", "expected"), SPECS)
def test_pvcs_are_deleted_by_default(spec: Any, expected: bool) -> None:
    assert deletes_claims(spec) is expected


def observed() -> Observed:
    return converged(render(druid.cluster()))


def without_owner(live: Manifest) -> Manifest:
    return {**live, "metadata": {key: live["metadata"][key] for key in live["metadata"] if key != "ownerReferences"}}


def test_is_orphaning() -> None:
    assert is_orphaning(resource([FINALIZER, "orphan"]))
    assert not is_orphaning(resource([FINALIZER]))
    assert not is_orphaning(resource(None))


def test_objects_without_owner() -> None:
    cluster = druid.cluster()
    assert objects_without_owner(cluster, observed()) == ()
    assert objects_without_owner(cluster, Observed()) == ()
    [live] = observed().of_kind("StatefulSet")
    assert objects_without_owner(cluster, observed().with_objects([without_owner(live)])) == (
        "StatefulSet druid-c-brokers",
    )
