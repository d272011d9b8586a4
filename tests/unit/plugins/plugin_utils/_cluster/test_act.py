# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each write is bound to what it was decided on, and an error stops only what depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import DELETION_ATTEMPTS, act
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.verdicts import confirmed, rejections
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.dry_run import dry_run
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Operation, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored, written_by
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Answer, Server, serving

Manifest = dict[str, Any]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def api(server: Server) -> Iterator[KubernetesApi]:
    with urllib3.PoolManager() as pool:
        yield KubernetesApi(server.url, pool, sleep=lambda _seconds: None)


def config_map(name: str = "n", **data: str) -> Manifest:
    metadata = {"name": name, "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def claim(name: str = "p") -> Manifest:
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-of-{name}"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}


def step(operation: Operation, name: str, group: str | None = None) -> Step:
    live = None if operation == "create" else stored(config_map(name))
    return Step(operation, live or config_map(name), group, live, patch=[] if operation == "patch" else None)


def leaf(kind: str, operation: Operation = "create") -> Step:
    manifest = druid.rendered("StatefulSet") | {"kind": kind, "apiVersion": KINDS[kind].api_version}
    return Step(operation, stored(manifest), "g", stored(manifest) if operation == "delete" else None)


def removal(manifest: Manifest) -> Step:
    live = stored(manifest)
    return Step("delete", live, None, live)


OK = Answer(body={"metadata": {"uid": "u"}})
REFUSED = Answer(422, {"message": "no", "details": {"name": "n"}})
WORKLOAD = druid.rendered("StatefulSet")
# (what, steps, which answer is a refusal, which are done, which are tried)
DEPENDING: list[tuple[str, list[Step], str, str]] = [
    ("what all share", [step("create", "a"), step("create", "b", "g"), step("create", "c", "h")], "F--", "!.."),
    ("one group", [step("create", "a", "g"), step("create", "b", "g"), step("create", "c", "h")], "F-+", "!.!"),
    ("the last of a group", [step("create", "a", "g"), step("create", "b", "g"), step("create", "c")], "+F+", "!!!"),
    ("a deletion", [step("delete", "a"), step("delete", "b"), step("create", "c", "g")], "F++", "!!!"),
    ("a removed group after a failure", [step("create", "a"), step("delete", "b")], "F-", "!."),
    ("a removed group after a group's failure", [step("create", "a", "g"), step("delete", "b")], "F-", "!."),
    ("a removed group after one that stays", [step("delete", "a"), step("delete", "b")], "F+", "!!"),
    ("a deletion of another group", [step("create", "a", "g"), step("delete", "b", "h")], "F+", "!!"),
    ("an autoscaler before its group", [step("delete", "a", "g"), step("create", "b", "g")], "F-", "!."),
    ("an Ingress before its group's last", [leaf("Ingress"), step("create", "b", "g")], "F+", "!!"),
    ("a budget before a removed group", [leaf("PodDisruptionBudget"), step("delete", "b")], "F+", "!!"),
    ("an autoscaler that is applied", [leaf("HorizontalPodAutoscaler"), step("create", "b", "g")], "F+", "!!"),
    ("a removed autoscaler", [leaf("HorizontalPodAutoscaler", "delete"), step("create", "b", "g")], "F-", "!."),
    ("an Ingress after its group", [step("create", "b", "g"), leaf("Ingress")], "F-", "!."),
    ("a finalizer after an Ingress", [leaf("Ingress"), step("patch", "b")], "F-", "!."),
    ("a finalizer after a failure", [step("delete", "a"), step("patch", "b")], "F-", "!."),
    ("a finalizer after a group's failure", [step("create", "a", "g"), step("patch", "b")], "F-", "!."),
    ("claims after a workload", [removal(WORKLOAD), removal(claim()), step("patch", "b")], "F--", "!.."),
    ("claims after a Service", [step("delete", "a"), removal(claim())], "F+", "!!"),
    ("claims among themselves", [removal(claim("p")), removal(claim("q")), step("patch", "b")], "F+-", "!!."),
    ("nothing", [step("create", "a"), step("delete", "b"), step("patch", "c")], "+++", "!!!"),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "done", "tried"), [row[1:] for row in DEPENDING], ids=[row[0] for row in DEPENDING])
def test_an_error_stops_what_depends_on_it(
    server: Server, api: KubernetesApi, steps: list[Step], done: str, tried: str
) -> None:
    server.answers = [REFUSED if each == "F" else OK for each in done if each != "-"]
    results = act(api, steps)
    assert "".join("!" if result.was_tried else "." for result in results) == tried
    assert [result.is_done for result in results] == [each == "+" for each in done]
    assert len(server.asked) == tried.count("!")
    for result in results:
        if not result.was_tried:
            assert result.error is not None
            done = "deleted" if result.step.operation == "delete" else "written"
            assert result.error.startswith(f"{result.step.key} was not {done} because ")


def test_steps_are_asked_for_one_by_one(server: Server, api: KubernetesApi) -> None:
    seen: list[int] = []

    def steps() -> Iterator[Step]:
        for name in "ab":
            seen.append(len(server.asked))
            yield step("delete", name)

    act(api, steps())
    assert seen == [0, 1]


def test_an_update_is_bound_to_what_was_seen(server: Server, api: KubernetesApi) -> None:
    before, after = config_map(a="1"), config_map(a="2")
    live = stored(before)
    server.answers = [Answer(body=stored(after))]
    [result] = act(api, [Step("update", after, None, live, compare(live, after).predicted)])
    assert result.live == stored(after)
    assert server.asked[0].document == {**after, "metadata": {**after["metadata"], "uid": "uid-of-n"}}


def test_a_deletion_is_bound_to_what_was_seen(server: Server, api: KubernetesApi) -> None:
    act(api, [step("delete", "n")])
    assert server.asked[0].document["preconditions"] == {"uid": "uid-of-n"}


def test_ownership_is_settled_before_the_values(server: Server, api: KubernetesApi) -> None:
    live = written_by("before-first-apply", config_map(a="1"))
    manifest = config_map(a="2")
    comparison = compare(live, manifest)
    server.answers = [Answer(body=live), Answer(body=stored(manifest))]
    act(api, [Step("update", manifest, None, live, comparison.predicted, comparison.managed_fields)])
    assert [asked.headers["content-type"] for asked in server.asked] == [
        ["application/json-patch+json"],
        ["application/apply-patch+yaml"],
    ]
    assert server.asked[0].document == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "1"},
        {"op": "add", "path": "/metadata/managedFields", "value": comparison.managed_fields},
    ]


def test_first_replicas_are_handed_over_at_once(server: Server, api: KubernetesApi) -> None:
    lasting, first = druid.rendered("StatefulSet"), druid.rendered("StatefulSet", {"replicas": 3})
    del lasting["spec"]["replicas"]
    server.answers = [Answer(body=stored(first)), Answer(body=stored(lasting))]
    act(api, [Step("create", lasting, "brokers", initial=first)])
    applied, handed_over = server.asked
    assert applied.document["spec"] == first["spec"]
    managers = [each["manager"] for each in handed_over.document[1]["value"]]
    assert managers == ["druidops", "druidops-replicas"]


UNTOLD = "the server rejected our request due to an error in our request"
FASTER = [
    Answer(409, {"message": "the object has been modified"}),
    Answer(422, {"message": "invalid", "details": {"name": "n", "causes": [{"field": "metadata.uid"}]}}),
]


@pytest.mark.parametrize("answer", FASTER)
def test_says_that_somebody_else_was_faster(server: Server, api: KubernetesApi, answer: Answer) -> None:
    server.answers = [answer]
    manifest = config_map(a="2")
    [result] = act(api, [Step("update", manifest, None, stored(config_map(a="1")), manifest)])
    assert result.error is not None
    assert result.error.startswith("ConfigMap n was modified concurrently, so nothing was written to it.")


def recreated() -> Step:
    live = stored(WORKLOAD)
    return Step("recreate", WORKLOAD, "brokers", live)


def missing() -> Answer:
    return Answer(404, {"message": "not found", "details": {"name": "druid-c-brokers"}})


def test_makes_an_object_again_when_the_old_one_is_gone(server: Server, api: KubernetesApi) -> None:
    server.answers = [OK, Answer(body=stored(WORKLOAD)), missing(), Answer(body=stored(WORKLOAD))]
    [result] = act(api, [recreated()])
    assert result.is_done
    assert [asked.method for asked in server.asked] == ["DELETE", "GET", "GET", "PATCH"]
    assert server.asked[0].document["propagationPolicy"] == "Orphan"
    assert server.asked[0].document["preconditions"] == {"uid": "uid-of-druid-c-brokers"}
    assert "uid" not in server.asked[3].document["metadata"]


def test_waits_only_so_long_for_the_old_one_to_go(server: Server, api: KubernetesApi) -> None:
    server.answers = [OK, Answer(body=stored(WORKLOAD))]
    [result] = act(api, [recreated()])
    assert len(server.asked) == DELETION_ATTEMPTS + 1
    assert result.error is not None
    assert "must be recreated, but is still being deleted after 10 s, blocked by its dependents" in result.error


TAKEN = Answer(409, {"message": "already exists", "reason": "AlreadyExists", "details": {"name": "druid-c-brokers"}})
COUNT = "count/statefulsets.apps"
FULL = Answer(
    403, {"message": f"forbidden: exceeded quota: q, requested: {COUNT}=1, used: {COUNT}=2, limited: {COUNT}=2"}
)
FORBIDDEN = Answer(403, {"message": "forbidden: User cannot patch resource"})


def test_makes_an_object_again_when_the_quota_knows_it_too(server: Server, api: KubernetesApi) -> None:
    server.answers = [OK, missing(), FULL, FULL, Answer(body=stored(WORKLOAD))]
    [result] = act(api, [recreated()])
    assert result.is_done
    assert [asked.method for asked in server.asked] == ["DELETE", "GET", "PATCH", "PATCH", "PATCH"]


def judged(api: KubernetesApi, steps: list[Step]) -> tuple[tuple[Step, ...], tuple[Finding, ...]]:
    """Return the steps that the API server confirms, and its rejections."""
    verdicts = dry_run(api, steps)
    draft = Draft(replace(inputs(druid.cluster()), verdicts=verdicts), tuple(steps))
    findings = rejections(draft)
    assert isinstance(findings, tuple)
    return confirmed(draft.with_findings(findings).steps, verdicts), findings


class TestJudge:
    @pytest.mark.parametrize("answers", [[FULL], [TAKEN, FULL]])
    def test_a_quota_does_not_count_twice(self, server: Server, api: KubernetesApi, answers: list[Answer]) -> None:
        server.answers = answers
        [sure], findings = judged(api, [recreated()])
        assert findings == ()
        assert sure.after is not None
        assert sure.after["spec"] == WORKLOAD["spec"]

    @pytest.mark.parametrize("answers", [[FORBIDDEN], [TAKEN, FORBIDDEN], [REFUSED], [TAKEN, REFUSED]])
    def test_a_replacement_that_is_refused(self, server: Server, api: KubernetesApi, answers: list[Answer]) -> None:
        server.answers = list(answers)
        steps, [finding] = judged(api, [recreated()])
        assert (steps, finding.reason) == ((), reasons.REJECTED_BY_API_SERVER)
        assert len(server.asked) == len(answers)

    def test_a_step_that_would_write_nothing_is_none(self, server: Server, api: KubernetesApi) -> None:
        live = stored(config_map(a="1"))
        server.answers = [Answer(body=live | {"status": {"seen": True}})]
        steps, findings = judged(api, [Step("update", config_map(a="1"), None, live, live)])
        assert (steps, findings) == ((), ())
        assert server.asked[0].path.endswith("dryRun=All")

    def test_a_step_that_would_write_has_its_result(self, server: Server, api: KubernetesApi) -> None:
        after = stored(config_map(a="2"))
        server.answers = [Answer(body=after)]
        [sure], findings = judged(api, [Step("update", config_map(a="2"), None, stored(config_map(a="1")))])
        assert sure.after == after
        assert findings == ()

    def test_a_new_object_is_always_written(self, server: Server, api: KubernetesApi) -> None:
        server.answers = [Answer(body=stored(config_map()))]
        [sure], _findings = judged(api, [step("create", "n")])
        assert sure.after == stored(config_map())

    @pytest.mark.parametrize(
        ("status", "reason"),
        [
            (400, reasons.REJECTED_BY_API_SERVER),
            (403, reasons.REJECTED_BY_API_SERVER),
            (422, reasons.REJECTED_BY_API_SERVER),
            (401, reasons.APPLY_FAILED),
            (409, reasons.APPLY_FAILED),
            (500, reasons.APPLY_FAILED),
            (503, reasons.APPLY_FAILED),
        ],
    )
    def test_a_refusal_is_a_finding(self, server: Server, api: KubernetesApi, status: int, reason: str) -> None:
        server.answers = [Answer(status, {"message": "no"}), OK]
        [sure], [finding] = judged(api, [step("create", "a", "g"), step("create", "b", "h")])
        assert sure.group == "h"
        assert (finding.reason, finding.group) == (reason, "g")
        assert "ConfigMap a " in finding.message
        assert finding.message.endswith(". Nothing of group g is changed.")

    def test_a_volume_that_is_missing_can_be_added(self, server: Server, api: KubernetesApi) -> None:
        # kube-apiserver 1.34
        field, words = "spec.template.spec.containers[0].volumeMounts[2].name", 'Not found: "var"'
        causes = [{"reason": "FieldValueNotFound", "message": words, "field": field}]
        message = f'StatefulSet.apps "a" is invalid: {field}: {words}'
        server.answers = [Answer(422, {"message": message, "details": {"causes": causes}})]
        _steps, [finding] = judged(api, [step("create", "a", "g")])
        assert finding.message.endswith(
            f"{message}. Add a volume of that name to the volumes of spec or of the group, or remove the volume mount. "
            "Nothing of group g is changed."
        )

    def test_a_namespace_that_is_not_there_is_one_finding(self, server: Server, api: KubernetesApi) -> None:
        words, details = 'namespaces "ns" not found', {"kind": "namespaces", "name": "ns"}
        server.answers = [Answer(404, {"message": words, "details": details})]
        steps, [finding] = judged(api, [step("create", "a", "g"), step("create", "b", "h")])
        assert (steps, finding.reason, finding.group) == ((), reasons.APPLY_FAILED, None)
        assert finding.message == (
            f"Cannot patch ConfigMap a in namespace ns: 404 {words}. "
            "Create the namespace first, or name another one. Nothing is changed."
        )

    def test_what_takes_over_is_judged_by_its_result(self, server: Server, api: KubernetesApi) -> None:
        live = written_by("before-first-apply", config_map(a="1"))
        comparison = compare(live, config_map(a="1"))
        server.answers = [Answer(body=live)]
        [sure], _findings = judged(
            api, [Step("update", config_map(a="1"), None, live, comparison.predicted, comparison.managed_fields)]
        )
        assert sure.managed_fields == comparison.managed_fields
        assert [asked.method for asked in server.asked] == ["PUT"]

    def test_a_recreation_is_judged_under_its_name_and_another(self, server: Server, api: KubernetesApi) -> None:
        server.answers = [TAKEN, Answer(body={**stored(WORKLOAD), "judged": True})]
        [sure], _findings = judged(api, [recreated()])
        by_name, elsewhere = server.asked
        assert (by_name.method, by_name.document) == ("POST", WORKLOAD)
        assert elsewhere.path.split("?")[0].endswith("/druid-c-brokers-dry-run")
        assert all(asked.path.endswith("dryRun=All") for asked in server.asked)
        assert sure.after is not None
        assert sure.after["judged"]
        assert sure.after["metadata"]["name"] == "druid-c-brokers"
