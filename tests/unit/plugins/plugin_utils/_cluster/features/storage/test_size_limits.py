# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests of the spec that are smaller or larger than existing PVCs."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.size_limits import (
    may_lack_labels,
    oversized_pvcs,
    shrinking_claims,
    undersized_pvcs,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import draft, inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged

Manifest = dict[str, Any]


def storage(name: str, size: Any) -> Manifest:
    return {"metadata": {"name": name}, "spec": {"resources": {"requests": {"storage": size}}}}


def claim(name: str, size: str) -> Manifest:
    return {"kind": "PersistentVolumeClaim", **storage(name, size)}


def claims(*sizes: tuple[str, Any]) -> Manifest:
    return {"volumeClaimTemplates": [storage(name, size) for name, size in sizes]}


SIZES: list[tuple[Manifest, Manifest, int]] = [
    (claims(("d", "2Gi")), claims(("d", "1Gi")), 1),
    (claims(("d", "1Gi")), claims(("d", "2Gi")), 0),
    (claims(("d", "1Gi")), claims(("d", "1024Mi")), 0),
    (claims(("d", "1Gi")), claims(("d", "1G")), 1),
    (claims(("d", "1Gi"), ("e", "1Gi")), claims(("d", "1Mi"), ("e", "1Mi")), 2),
    (claims(("d", "1Gi")), claims(("e", "1Mi")), 0),
    (claims(("d", "1Gi")), {}, 0),
    ({}, claims(("d", "1Gi")), 0),
    (claims(("d", "1Gi")), claims(("d", "nonsense")), 0),
    (claims(("d", "1Gi")), {"volumeClaimTemplates": [{"metadata": {"name": "d"}}]}, 0),
]


def claim_of(template: str, size: str, capacity: str | None = None, ordinal: int = 0) -> Manifest:
    """Return a PVC as the StatefulSet controller creates it, bound if it has a capacity."""
    status = {"capacity": {"storage": capacity}} if capacity else {}
    return {**claim(f"{template}-druid-c-brokers-{ordinal}", size), "status": status}


def running_with(before: Manifest, *found: Manifest) -> Observed:
    return converged(render(druid.cluster(before))).with_objects(found)


@pytest.mark.parametrize(("before", "after", "number"), SIZES)
def test_pvcs_cannot_shrink(before: Manifest, after: Manifest, number: int) -> None:
    templates = before.get("volumeClaimTemplates", [])
    sizes = {each["metadata"]["name"]: each["spec"]["resources"]["requests"]["storage"] for each in templates}
    observed = running_with(before, *(claim_of(name, sizes[name]) for name in sizes))
    findings = shrinking_claims(draft(druid.cluster(after), observed))
    assert len(findings) == number
    for finding in findings:
        assert (finding.reason, finding.group) == (reasons.INVALID_SPEC, "brokers")
    assert shrinking_claims(draft(druid.cluster(after), running_with(before))) == ()


def test_pvcs_are_named_in_a_fixed_order() -> None:
    """In a random order each reconcile would update the status."""
    names = [f"{letter}-data" for letter in "hgfedcba"]
    before, after = (claims(*((name, size) for name in names)) for size in ("2Gi", "1Gi"))
    observed = running_with(before, *(claim_of(name, "2Gi") for name in names))
    findings = shrinking_claims(draft(druid.cluster(after), observed))
    fields = [finding.message.partition(":")[0] for finding in findings]
    assert fields == [f"spec.nodes[brokers].volumeClaimTemplates[{name}]" for name in sorted(names)]


# (existing PVCs, size in the StatefulSet, desired size, message)
CLAIMS: list[tuple[list[Manifest], str, str, str | None]] = [
    ([claim_of("d", "1Ti")], "10Ti", "1Ti", None),
    ([claim_of("d", "1Ti", "1Ti")], "10Ti", "1024Gi", None),
    ([claim_of("d", "1Ti")], "10Ti", "1Gi", "1Gi is less than the 1Ti of PVC d-druid-c-brokers-0"),
    ([claim_of("d", "1Ti"), claim_of("d", "2Ti", ordinal=11)], "10Ti", "1Ti", "the 2Ti of PVC d-druid-c-brokers-11,"),
    # expanded manually, with an unchanged spec
    ([claim_of("d", "2Ti")], "1Ti", "1Ti", None),
    ([claim_of("d", "2Ti")], "1Ti", "3Ti", None),
    # not expanded yet; provisioned with more than requested
    ([claim_of("d", "10Ti", "1Ti")], "10Ti", "1Ti", None),
    ([claim_of("d", "10Ti", "1Ti")], "10Ti", "1Gi", "the 1Ti of PVC d-druid-c-brokers-0,"),
    ([claim_of("d", "1Gi", "4Gi")], "2Gi", "1Gi", None),
    # of another template, or another group
    (
        [claim_of("e", "9Ti"), {**claim_of("d", "9Ti"), "metadata": {"name": "d-druid-c-brokers-x-0"}}],
        "2Gi",
        "1Gi",
        None,
    ),
    ([{**claim_of("d", "9Ti"), "spec": {}}], "2Gi", "1Gi", None),
]


@pytest.mark.parametrize(("found", "template", "desired", "text"), CLAIMS)
def test_only_existing_pvcs_cannot_shrink(found: list[Manifest], template: str, desired: str, text: str | None) -> None:
    observed = running_with(claims(("d", template)), *found)
    findings = shrinking_claims(draft(druid.cluster(claims(("d", desired))), observed))
    assert len(findings) == (0 if text is None else 1)
    if text is not None:
        assert text in findings[0].message
        assert findings[0].message.startswith("spec.nodes[brokers].volumeClaimTemplates[d]: ")


def test_missing_stateful_set_cannot_shrink() -> None:
    assert shrinking_claims(draft(druid.cluster(claims(("d", "1Mi"))))) == ()


TWO = [claim("d-druid-c-brokers-0", "2Gi"), claim("d-druid-c-brokers-1", "2Gi")]
# (id, group, PVCs, PVCs named in the warning)
TABLE: list[tuple[str, Manifest, list[Manifest], str | None]] = [
    ("larger", claims(("d", "4Gi")), TWO, "d-druid-c-brokers-0 (2Gi), d-druid-c-brokers-1 (2Gi)"),
    ("one of them", claims(("d", "4Gi")), [TWO[0], claim("d-druid-c-brokers-1", "4Gi")], "d-druid-c-brokers-0 (2Gi)"),
    ("the same", claims(("d", "2048Mi")), TWO, None),
    ("smaller", claims(("d", "1Gi")), TWO, None),
    ("of another group", claims(("d", "4Gi")), [claim("d-druid-c-routers-0", "2Gi")], None),
    ("no PVC yet", claims(("d", "4Gi")), [], None),
    ("an invalid quantity", claims(("d", "many")), TWO, None),
    ("a stand-alone PVC", {"persistentVolumeClaim": [storage("p", "2Gi")]}, [claim("p", "1Gi")], "p (1Gi)"),
    (
        "a stand-alone PVC of the requested size",
        {"persistentVolumeClaim": [storage("p", "2Gi")]},
        [claim("p", "2Gi")],
        None,
    ),
]


@pytest.mark.parametrize(("node", "live", "names"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_undersized_pvcs(node: Manifest, live: list[Manifest], names: str | None) -> None:
    found = undersized_pvcs(inputs(druid.cluster(node), Observed().with_objects(live)))
    assert len(found) == (names is not None)
    for warning in found:
        assert warning.startswith("spec.nodes[brokers].")
        assert f"scalePvcSts is false: {names}. " in warning


ALONE = {"persistentVolumeClaim": [storage("alone", "2Gi")]}


@pytest.mark.parametrize(("size", "is_larger"), [("1Gi", False), ("2Gi", False), ("3Gi", True)])
def test_a_stand_alone_pvc_that_is_larger_than_specified(size: str, is_larger: bool) -> None:
    live = Observed().with_objects([claim("alone", size), claim_of("d", "9Gi")])
    found = oversized_pvcs(inputs(druid.cluster({**ALONE, **claims(("d", "1Gi"))}), live))
    text = "spec.nodes[brokers].persistentVolumeClaim[alone]: the spec requests 2Gi, less than the 3Gi of PVC alone"
    assert [each.startswith(text) for each in found] == [True] * is_larger


def pod(volume: str, claim_name: str, name: str = "druid-c-brokers-0") -> Manifest:
    """Return a pod of the group with a PVC."""
    volumes = [{"name": "tmp", "emptyDir": {}}, {"name": volume, "persistentVolumeClaim": {"claimName": claim_name}}]
    metadata = {"name": name, "labels": {"nodeSpecUniqueStr": "druid-c-brokers"}}
    return {"kind": "Pod", "metadata": metadata, "spec": {"volumes": volumes}}


PVC, PVC_0 = "d-druid-c-brokers-0", claim_of("d", "1Gi")
# (size in the StatefulSet, desired size, live objects, are all PVCs of the namespace needed)
NEEDS: dict[str, tuple[str, str, list[Manifest], bool]] = {
    "no pod": ("1Gi", "1Gi", [], False),
    "a listed PVC": ("1Gi", "1Gi", [pod("d", PVC), PVC_0], False),
    "a PVC that was not listed": ("1Gi", "1Gi", [pod("d", PVC)], True),
    "one of two": (
        "1Gi",
        "1Gi",
        [pod("d", PVC), pod("d", f"{PVC}1", "druid-c-brokers-01"), claim_of("d", "1Gi")],
        True,
    ),
    "a PVC of the user": ("1Gi", "1Gi", [pod("v", "shared")], False),
    "no pod, larger": ("1Gi", "2Gi", [], True),
    "no pod, smaller": ("2Gi", "1Gi", [], True),
    "no pod, the same": ("1Gi", "1024Mi", [], False),
}


@pytest.mark.parametrize(("before", "after", "found", "is_needed"), NEEDS.values(), ids=NEEDS)
def test_pvcs_without_labels_are_read_if_there_may_be_any(
    before: str, after: str, found: list[Manifest], is_needed: bool
) -> None:
    observed = running_with(claims(("d", before)), *found)
    observed_inputs = inputs(druid.cluster(claims(("d", after))), observed)
    assert may_lack_labels(observed_inputs) is is_needed


@pytest.mark.parametrize(("desired", "warnings", "findings"), [("1Gi", 0, 1), ("2Gi", 0, 0), ("4Gi", 1, 0)])
def test_the_size_of_a_pvc_without_labels(desired: str, warnings: int, findings: int) -> None:
    found = {"PersistentVolumeClaim": (claim_of("d", "2Gi"), claim("d-druid-c-routers-0", "9Gi"))}
    observed = running_with(claims(("d", "2Gi")))
    observed_inputs = inputs(druid.cluster(claims(("d", desired))), observed, lists=found)
    assert len(undersized_pvcs(observed_inputs)) == warnings
    assert len(shrinking_claims(DraftPlan(observed_inputs, ()))) == findings
