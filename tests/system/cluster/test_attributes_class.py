# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The attributes class of PVCs, on an API server that stores it, and on one that drops it without a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, STATEFUL, claim_template
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    NamespaceClient,
    condition,
    without_status,
)
from testbed.control_plane import ControlPlane
from testbed.control_plane import control_plane as own_plane
from testbed.pytest_plugin import crds, new_namespace
from testbed.versions import DEFAULT

CLAIM, FIELD = "PersistentVolumeClaim", "volumeAttributesClassName"
ALONE = "alone"
CLAIMS = [f"data-{STATEFUL}-{ordinal}" for ordinal in range(2)]


def gate(is_enabled: bool) -> tuple[str, ...]:
    """Return the argument of the API server."""
    return (f"--feature-gates=VolumeAttributesClass={str(is_enabled).lower()}",)


@pytest.fixture
def storing(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    """A namespace of an API server that stores the attributes class: from 1.34 on, that of all tests."""
    if stores(control_plane):
        with new_namespace(control_plane) as name:
            yield NamespaceClient(control_plane, name)
    else:
        with (
            own_plane(control_plane.kubernetes.minor, crds(), gate(is_enabled=True)) as plane,
            new_namespace(plane) as name,
        ):
            yield NamespaceClient(plane, name)


@pytest.fixture
def dropping(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    """A namespace of an API server that does not store it; later versions than the default one may always do."""
    minor = min(control_plane.kubernetes.minor, DEFAULT)
    with own_plane(minor, crds(), gate(is_enabled=False)) as plane, new_namespace(plane) as name:
        yield NamespaceClient(plane, name)


def stores(plane: ControlPlane) -> bool:
    """True if the API server stores the attributes class of a PVC."""
    body = {**claim_template("probe"), "kind": CLAIM}
    body["spec"] |= {FIELD: "fast"}
    live = NamespaceClient(plane, "default")
    created = plane.request("POST", f"{live.path(CLAIM)}?dryRun=All", body)
    return bool(created["spec"].get(FIELD))


def specified(**template: Any) -> dict[str, Any]:
    """Return the group with two pods, with a PVC each, and a stand-alone PVC."""
    templates = [claim_template()]
    templates[0]["spec"] |= template
    alone = claim_template(ALONE)
    alone["spec"] |= template
    return {"volumeClaimTemplates": templates, "persistentVolumeClaim": [alone], "replicas": 2}


def create(live: NamespaceClient, **template: Any) -> set[str]:
    """Create the cluster, and return the uids of its pods when all PVCs are bound."""
    full_cluster.create(live, historicals=full_cluster.historicals(**specified(**template)))
    until_ready(live, NAME)
    eventually(lambda: all(live.get(CLAIM, name)["status"].get("phase") == "Bound" for name in (*CLAIMS, ALONE)))
    return pods(live)


def request(live: NamespaceClient, **template: Any) -> None:
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": specified(**template)}}})


def pods(live: NamespaceClient) -> set[str]:
    return {each["metadata"]["uid"] for each in live.list("Pod")}


def classes(live: NamespaceClient) -> list[str | None]:
    """Return the attributes classes of the PVCs, and of the template of the StatefulSet."""
    claims = [live.get(CLAIM, name) for name in (*CLAIMS, ALONE)]
    templates = live.get("StatefulSet", STATEFUL)["spec"]["volumeClaimTemplates"]
    return [each["spec"].get(FIELD) for each in (*claims, *templates)]


def warning(live: NamespaceClient) -> str:
    found = live.get("Druid", NAME)["status"]["conditions"]
    return "".join(each["message"] for each in found if each["type"] == "Warnings")


def settled(live: NamespaceClient) -> list[str]:
    """Reconcile until there is nothing left to do; return what two more reconciles write."""
    eventually(lambda: not one_pass(live, NAME).plan.changes)
    until_ready(live, NAME)
    mark = live.mark()
    for _time in range(2):
        assert not one_pass(live, NAME).changed
    return [write for write in without_status(live.writes(mark)) if "(dry run)" not in write]


def test_the_class_of_existing_claims_changes_without_a_restart(storing: NamespaceClient) -> None:
    before = create(storing)
    assert classes(storing) == [None] * 4
    for name in ("fast", "slow"):
        request(storing, **{FIELD: name})
        planned = plan_output.lines(one_pass(storing, NAME, check_mode=True).plan)
        assert [text for text in planned if FIELD in text] == [
            f"update {CLAIM} {each} (set {FIELD} to {name})" for each in (ALONE, *CLAIMS)
        ]
        assert settled(storing) == []
        assert classes(storing) == [name] * 4
        assert warning(storing) == ""
    # One that others have set stays until the template changes.
    storing.merge(CLAIM, CLAIMS[0], {"spec": {FIELD: "theirs"}})
    assert settled(storing) == []
    assert classes(storing) == ["theirs", "slow", "slow", "slow"]
    assert pods(storing) == before


def test_a_class_that_is_not_stored_is_a_warning(dropping: NamespaceClient) -> None:
    def is_dropped(name: str) -> bool:
        assert settled(dropping) == []
        assert classes(dropping) == [None, None, None, name]
        found = condition(dropping.get("Druid", NAME), "Warnings")
        assert found["reason"] == reasons.SPEC_WARNING
        expected = f"{CLAIM} {', '.join((ALONE, *CLAIMS))} of group historicals: not done: set {FIELD} to {name}. "
        return expected in found["message"] and "enable its feature gate VolumeAttributesClass" in found["message"]

    before = create(dropping, **{FIELD: "fast"})
    assert is_dropped("fast")
    request(dropping, **{FIELD: "slow"})
    assert is_dropped("slow")
    [event] = [each for each in dropping.list("Event") if f"set {FIELD} to slow. The API server" in each["message"]]
    assert (event["type"], event["reason"], event.get("count", 1)) == ("Warning", reasons.SPEC_WARNING, 1)
    request(dropping)
    assert settled(dropping) == []
    assert (classes(dropping), warning(dropping)) == ([None] * 4, "")
    request(dropping, **{FIELD: "fast"})
    assert is_dropped("fast")

    with dropping.plane.without_api_server(gate(is_enabled=True)):
        pass
    assert settled(dropping) == []
    assert (classes(dropping), warning(dropping)) == (["fast"] * 4, "")
    assert pods(dropping) == before
