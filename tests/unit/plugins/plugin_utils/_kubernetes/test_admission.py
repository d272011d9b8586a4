# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A live object is compared with what admission leaves as it is specified; what it overrides is reported."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import Override, differs, overrides
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import shape_of

Manifest = dict[str, Any]
TEMPLATES = shape_of("StatefulSet").child("spec").child("volumeClaimTemplates")


def claims(size: str = "1Gi", name: str = "data", **metadata: Any) -> list[Manifest]:
    return [{"metadata": {"name": name, **metadata}, "spec": {"resources": {"requests": {"storage": size}}}}]


PLAIN, LABELLED = claims(), claims(labels={"policy": "seen"})
BOTH = {"mine": "yes", "policy": "seen"}
# (live, desired, admitted, whether the object has to be recreated)
CASES: dict[str, tuple[list[Manifest], list[Manifest], list[Manifest], bool]] = {
    "equal": (PLAIN, PLAIN, PLAIN, False),
    "another size": (PLAIN, claims("2Gi"), claims("2Gi"), True),
    "the same in another notation": (PLAIN, claims("1024Mi"), claims("1024Mi"), False),
    "a label of admission": (LABELLED, PLAIN, LABELLED, False),
    "another one each time": (claims(labels={"at": "1"}), PLAIN, claims(labels={"at": "2"}), False),
    "a policy that is new": (PLAIN, PLAIN, LABELLED, False),
    "a label of a policy that is gone": (LABELLED, PLAIN, PLAIN, True),
    "our label beside that of admission": (LABELLED, claims(labels={"mine": "yes"}), claims(labels=BOTH), True),
    "our label is there": (claims(labels=BOTH), claims(labels={"mine": "yes"}), claims(labels=BOTH), False),
    "our label was removed": (claims(labels=BOTH), PLAIN, LABELLED, True),
    "another size, with a label of admission": (
        LABELLED,
        claims("2Gi"),
        claims("2Gi", labels={"policy": "seen"}),
        True,
    ),
    "a size that admission sets": (claims("5Gi"), PLAIN, claims("5Gi"), False),
    "a template of admission": ([*PLAIN, *claims(name="more")], PLAIN, [*PLAIN, *claims(name="more")], False),
    "another template of ours": ([*PLAIN, *claims(name="more")], claims(name="b"), claims(name="b"), True),
    "the same, beside one of admission": (
        [*PLAIN, *claims(name="more")],
        claims(name="b"),
        [*claims(name="b"), *claims(name="more")],
        True,
    ),
    "all removed": (PLAIN, [], [], True),
}


@pytest.mark.parametrize(("live", "desired", "admitted", "expected"), CASES.values(), ids=CASES)
def test_only_our_differences_count(
    live: list[Manifest], desired: list[Manifest], admitted: list[Manifest], expected: bool
) -> None:
    assert differs(live, desired, admitted, TEMPLATES) == expected
    # What was stored by a recreation needs no other one.
    assert not differs(admitted, desired, admitted, TEMPLATES)


def stateful_set() -> Manifest:
    container = {"name": "main", "image": "druid", "env": [{"name": "A", "value": "b"}], "command": ["run"]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "template": template, "volumeClaimTemplates": PLAIN, "serviceName": ""}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "s", "labels": {"app": "druid"}, "ownerReferences": [{"uid": "1"}]},
        "spec": spec,
    }


def test_what_admission_adds_is_no_override() -> None:
    after = deepcopy(stateful_set())
    after["metadata"].update(uid="2", annotations={"policy": "seen"})
    after["spec"].update(podManagementPolicy="OrderedReady", volumeClaimTemplates=LABELLED)
    del after["spec"]["serviceName"]
    after["spec"]["template"]["spec"]["containers"][0]["env"].append({"name": "POLICY", "value": "x"})
    after["spec"]["template"]["spec"]["containers"].insert(0, {"name": "sidecar", "image": "x"})
    assert [*overrides(stateful_set(), after)] == []


def test_overrides() -> None:
    after = deepcopy(stateful_set())
    after["metadata"]["labels"]["app"] = "policy"
    after["spec"].update(replicas=2, volumeClaimTemplates=claims("5Gi"))
    [container] = after["spec"]["template"]["spec"]["containers"]
    container.update(image="mirror/druid", env=[], command=["other"])
    place = "spec.template.spec.containers[main]"
    assert [*overrides(stateful_set(), after)] == [
        Override("metadata.labels.app", "druid", "policy"),
        Override("spec.replicas", 1, 2),
        Override(f"{place}.image", "druid", "mirror/druid"),
        Override(f"{place}.env[A]", {"name": "A", "value": "b"}, None),
        Override(f"{place}.command", ["run"], ["other"]),
        Override("spec.volumeClaimTemplates[data].spec.resources.requests.storage", "1Gi", "5Gi"),
    ]
