# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a Collector: a decision about a table of answers, without an API server and without Helm."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.decide import attempt_digest, target
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.decision import (
    decide_deletion,
    decide_plan,
    deletion_with_namespace,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import COLLECTOR
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import CollectorReads
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconcile import finalize
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release, Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.scope import Kinds
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import (
    FINALIZER,
    HELM_SECRET_TYPE,
    Collector,
    owner_labels,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import (
    Chart,
    CollectorResult,
    NamespaceState,
    ObjectChange,
    Objects,
    Observed,
    Plan,
    Target,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.memory_api import MemoryApi

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CHART = Chart("c", "1.0.0", "/charts/c")
OURS = ({"metadata": {"labels": owner_labels("ns", "a")}},)


def config_map(name: str, **more: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **more}}


MANIFEST = (config_map("telemetry"),)
ELSEWHERE = config_map("stray", namespace="kube-system")
FAILED = Finding(reasons.HELM_FAILED, "Helm failed")
DRIFT = ObjectChange(None, MANIFEST[0])


@dataclass
class Answers(CollectorReads):
    """What the reader answers, and what it was asked. An error is raised; `is_deleted`: the namespace is."""

    state: NamespaceState = "active"
    objects: Objects = field(default_factory=Objects)
    rendering: tuple[Manifest, ...] | Finding = MANIFEST
    rejection: str = ""
    stored: Release | str | ApiError | None = None
    is_deleted: bool = False
    asked: list[str] = field(default_factory=list)

    def release(self) -> tuple[Release | None, str]:
        self.asked.append("release")
        if isinstance(self.stored, ApiError):
            raise self.stored
        return (None, self.stored) if isinstance(self.stored, str) else (self.stored, "")

    def is_namespace_deleted(self) -> bool:
        self.asked.append("is it deleted")
        return self.is_deleted

    def namespace(self) -> NamespaceState:
        self.asked.append("namespace")
        return self.state

    def kinds(self, manifests: Iterable[Manifest]) -> Kinds:
        return {(each["apiVersion"], each["kind"]): KINDS[each["kind"]] for each in manifests}

    def latest_problem(self) -> str:
        self.asked.append("problem")
        return "Pod telemetry-0: Failed: no image"

    def compared(self, manifest: Sequence[Manifest]) -> Objects:
        self.asked.append("objects")
        return self.objects

    def rejected(self, rendered: Sequence[Manifest]) -> str:
        self.asked.append("dry runs")
        return self.rejection

    def rendered(self, target: Target) -> tuple[tuple[Manifest, ...], Target] | Finding:
        self.asked.append("chart")
        return self.rendering if isinstance(self.rendering, Finding) else (self.rendering, target)


def collector(specified: dict[str, Any] | None = None, **status: Any) -> Collector:
    metadata = {"name": "a", "namespace": "ns", "uid": "u", "finalizers": [FINALIZER]}
    spec = {"collector": {"name": "telemetry"}, **(specified or {})}
    return Collector.from_resource({"metadata": metadata, "spec": spec, "status": status})


def desired() -> Target:
    found = target(collector(), Observed(), CHART)
    assert isinstance(found, Target)
    return found


def revision(
    number: int = 1, state: str = "deployed", values: dict[str, Any] | None = None, updated: str = ""
) -> Revision:
    known = dict(desired().values) if values is None else values
    return Revision({}, number, state, "c", "1.0.0", "", known, MANIFEST, updated=updated)


def release(latest: Revision, deployed: Revision | None = None) -> Release:
    return Release(OURS, latest, deployed or (latest if latest.state == "deployed" else None))


def decided(answers: Answers, found: Release | None, subject: Collector | None = None) -> CollectorResult:
    resource = subject or collector()
    planned = CollectorResult({}, Plan(), resource)
    return decide_plan(planned, Observed(release=found), CHART, Options(), NOW, answers)


UPGRADE = "upgrade release telemetry of chart c-1.0.0"
OLD = revision(values={"old": True})
STALE = revision(2, "pending-upgrade", updated="2026-01-01T11:00:00Z")
FRESH = revision(2, "pending-upgrade", updated="2026-01-01T11:59:59Z")


@pytest.mark.parametrize(
    ("found", "answers", "titles", "findings", "asked"),
    [
        (None, Answers(), ["install release telemetry of chart c-1.0.0"], [], ["namespace", "chart", "dry runs"]),
        (None, Answers("missing"), [], [reasons.TENANT_NOT_FOUND], ["namespace"]),
        (None, Answers(rendering=FAILED), [], [reasons.HELM_FAILED], ["namespace", "chart"]),
        (None, Answers(rendering=(ELSEWHERE,)), [], [reasons.REF_NOT_PERMITTED], ["namespace", "chart"]),
        (None, Answers(rejection="no"), [], [reasons.HELM_FAILED], ["namespace", "chart", "dry runs"]),
        (
            release(OLD),
            Answers(),
            ["upgrade release telemetry of chart c-1.0.0"],
            [],
            ["namespace", "chart", "dry runs"],
        ),
        # the revision that runs is kept, and its objects with it
        (
            release(OLD),
            Answers(rejection="no", objects=Objects(changes=(DRIFT,))),
            ["create ConfigMap telemetry, which differs from the release"],
            [reasons.HELM_FAILED],
            ["namespace", "chart", "dry runs", "objects"],
        ),
        (release(revision()), Answers(), [], [], ["objects"]),
        (
            release(revision()),
            Answers(objects=Objects(unavailable=("Deployment telemetry (0/1)",))),
            [],
            [],
            ["objects", "problem"],
        ),
        (release(FRESH, OLD), Answers(), [], [reasons.RELEASE_PENDING], []),
        (
            release(STALE, OLD),
            Answers(),
            ["remove the interrupted revision 2 (pending-upgrade)", UPGRADE],
            [],
            ["namespace", "chart", "dry runs"],
        ),
    ],
    ids=[
        *("new", "no namespace", "no chart", "elsewhere", "rejected", "changed", "rejected, with drift"),
        *("as specified", "no pods", "Helm runs", "Helm was killed"),
    ],
)
def test_decision(
    found: Release | None, answers: Answers, titles: list[str], findings: list[str], asked: list[str]
) -> None:
    result = decided(answers, found)
    assert result.plan.titles == titles
    assert [each.reason for each in result.plan.findings] == findings
    assert answers.asked == asked


def claim(**annotations: str) -> Manifest:
    metadata = {"name": "data", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}


@pytest.mark.parametrize(
    ("former", "destructive"),
    [
        (claim(), ["delete PersistentVolumeClaim data (destructive)"]),
        (claim(**{"helm.sh/resource-policy": "keep"}), []),
        (config_map("former"), []),
    ],
    ids=["data", "kept data", "no data"],
)
def test_what_deletes_data_is_destructive(former: Manifest, destructive: list[str]) -> None:
    old = replace(OLD, manifest=(*MANIFEST, former))
    upgrade = decided(Answers(), release(old)).plan
    deletion = decide_deletion(
        CollectorResult({}, Plan(), collector(**INSTALLED)), CHART, Options(), Answers(stored=release(old))
    ).plan
    lines = COLLECTOR.lines(upgrade)
    assert lines[0] == UPGRADE
    assert [line for line in lines if line.endswith("(destructive)")] == destructive
    assert upgrade.is_destructive == deletion.is_destructive == bool(destructive)
    assert COLLECTOR.lines(deletion) == [f"{UNINSTALL[0]}{' (destructive)' if destructive else ''}", LAST]


def test_a_failed_attempt_is_not_repeated() -> None:
    failed = {"digest": attempt_digest(desired(), {}), "message": "no"}
    answers = Answers()
    result = decided(answers, None, collector(failedAttempt=failed))
    assert ([each.reason for each in result.plan.findings], answers.asked) == ([reasons.HELM_FAILED], [])


def test_a_release_without_an_owner_is_not_touched() -> None:
    answers = Answers()
    foreign = Revision({}, 1, "deployed", "c", "1.0.0", "", {}, MANIFEST)
    result = decided(answers, Release((), foreign, foreign))
    assert ([each.reason for each in result.plan.findings], answers.asked) == ([reasons.RELEASE_NOT_OWNED], [])


INSTALLED = {"release": {"name": "telemetry", "namespace": "ns"}}
OURS_DEPLOYED = release(revision())
STRAY = Revision({}, 1, "deployed", "c", "1.0.0", "", {}, (ELSEWHERE,))
NOT_ALLOWED, NOT_THERE = (ApiError("list", "secrets", "Secret", "ns", None, status, {}) for status in (403, 404))
LAST = "remove the finalizer"
UNINSTALL = ["uninstall release telemetry", LAST]


@pytest.mark.parametrize(
    ("subject", "answers", "titles", "warning", "asked"),
    [
        (collector(**INSTALLED), Answers(stored=OURS_DEPLOYED), UNINSTALL, "", ["release"]),
        (collector(**INSTALLED), Answers(), [LAST], "", ["release"]),
        # without a record nothing was installed: a release of that name is not ours
        (collector(), Answers(), [LAST], "", []),
        # nothing is read of a release that stays
        (collector({"deletionPolicy": "Retain"}, **INSTALLED), Answers(), [LAST], "deletionPolicy: Retain", []),
        # a status that another client has written does not lead to another tenant
        (collector({"tenant": "other"}, **INSTALLED), Answers(), [LAST], "does not allow this tenant", []),
        (collector(**INSTALLED), Answers(stored="no number"), [LAST], "cannot be read: no number.", ["release"]),
        (
            collector(**INSTALLED),
            Answers(stored=Release((), revision(), revision())),
            [LAST],
            "no label of this resource",
            ["release"],
        ),
        (
            collector(**INSTALLED),
            Answers(stored=Release(OURS, STRAY, STRAY)),
            [LAST],
            "ConfigMap stray in kube-system. Examine it",
            ["release"],
        ),
        *(
            (
                collector(**INSTALLED),
                Answers(stored=error, is_deleted=True),
                [LAST],
                "deleted with its namespace ns, not by Helm.",
                ["release", "is it deleted"],
            )
            for error in (NOT_ALLOWED, NOT_THERE)
        ),
    ],
    ids=[
        *("installed", "uninstalled already", "not recorded", "retained", "not allowed", "unreadable", "foreign"),
        *("with a foreign object", "no permission", "no namespace"),
    ],
)
def test_deletion(subject: Collector, answers: Answers, titles: list[str], warning: str, asked: list[str]) -> None:
    result = decide_deletion(CollectorResult({}, Plan(), subject), CHART, Options(), answers)
    assert result.plan.titles == titles
    assert (len(result.plan.warnings), warning in "".join(result.plan.warnings)) == (bool(warning), True)
    assert [each.reason for each in result.plan.findings] == [reasons.DELETING]
    assert answers.asked == asked


def test_a_missing_permission_blocks_a_deletion() -> None:
    with pytest.raises(ApiError):
        decide_deletion(
            CollectorResult({}, Plan(), collector(**INSTALLED)), CHART, Options(), Answers(stored=NOT_ALLOWED)
        )


def test_a_release_that_helm_cannot_uninstall_goes_with_its_namespace() -> None:
    planned = CollectorResult({}, Plan(), collector(**INSTALLED), OURS_DEPLOYED)
    result = deletion_with_namespace(planned)
    assert (result.plan.titles, result.release) == ([LAST], None)
    assert result.plan.warnings == ("The release telemetry is deleted with its namespace ns, not by Helm.",)


class Unreadable(MemoryApi):
    """An API server that does not answer whether the namespace is being deleted."""

    def create(self, manifest: Manifest, *_arguments: Any, **_named: Any) -> Manifest:
        raise self._error("POST", manifest["kind"], "ns", "", 500, "no leader")


def test_a_failure_of_helm_is_reported_although_the_read_after_it_fails() -> None:
    chart = {"metadata": {"name": "c", "version": "1.0.0"}}
    content = json.dumps({"version": 1, "info": {"status": "deployed"}, "chart": chart}).encode()
    encoded = base64.b64encode(base64.b64encode(gzip.compress(content))).decode()
    labels = {**owner_labels("ns", "a"), "version": "1", "status": "deployed"}
    metadata = {"name": "sh.helm.release.v1.telemetry.v1", "namespace": "ns", "uid": "s", "labels": labels}
    secret = {"kind": "Secret", "type": HELM_SECRET_TYPE, "metadata": metadata, "data": {"release": encoded}}
    subject = {"name": "a", "namespace": "ns", "uid": "u", "finalizers": [FINALIZER]}
    spec = {"collector": {"name": "telemetry"}}
    result = finalize(
        Unreadable(objects={("Secret", "s"): secret}),
        {"kind": "Collector", "metadata": subject, "spec": spec, "status": INSTALLED},
        Options(),
    )
    assert [each.reason for each in result.plan.problems] == [reasons.HELM_FAILED]
