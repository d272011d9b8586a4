# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each write has a precondition on the observed object, and an error stops only the dependent steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import (
    DraftPlan,
    confirmed,
    rejections,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import ChangeResource
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import DryRuns
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import Evict
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.recreate import DELETION_ATTEMPTS, Recreate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Restart, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, execute
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored, written_by
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.steps_of import step_of
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server

Manifest = dict[str, Any]


def config_map(name: str = "n", **data: str) -> Manifest:
    metadata = {"name": name, "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def claim(name: str = "p") -> Manifest:
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-of-{name}"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}


def step(operation: str, name: str, group: str | None = None) -> Step:
    live = None if operation == "create" else stored(config_map(name))
    return step_of(operation, live or config_map(name), group)


def leaf(kind: str, operation: str = "create") -> Step:
    manifest = druid.rendered("StatefulSet") | {"kind": kind, "apiVersion": KINDS[kind].api_version}
    return step_of(operation, stored(manifest), "g")


def removal(manifest: Manifest) -> Step:
    live = stored(manifest)
    return Delete(live=live)


OK = Response(body={"metadata": {"uid": "u"}})
REJECTED = Response(422, {"message": "no", "details": {"name": "n"}})


def after(group: str) -> Step:
    """A step of another group whose pods restart after those of this one."""
    return replace(step("create", "b", "h"), follows=frozenset({group}))


WORKLOAD = druid.rendered("StatefulSet")
RECORD = ChangeResource(live=druid.resource(), patch=[])
# (id, steps, results: F failed, + done, - not tried; requests: ! sent, . not sent)
DEPENDENCIES: list[tuple[str, list[Step], str, str]] = [
    ("a shared object", [step("create", "a"), step("create", "b", "g"), step("create", "c", "h")], "F--", "!.."),
    ("one group", [step("create", "a", "g"), step("create", "b", "g"), step("create", "c", "h")], "F-+", "!.!"),
    ("the last of a group", [step("create", "a", "g"), step("create", "b", "g"), step("create", "c")], "+F+", "!!!"),
    ("a deletion", [step("delete", "a"), step("delete", "b"), step("create", "c", "g")], "F++", "!!!"),
    ("a removed group after a failure", [step("create", "a"), step("delete", "b")], "F-", "!."),
    ("a removed group after a group's failure", [step("create", "a", "g"), step("delete", "b")], "F-", "!."),
    ("a removed group after another failed deletion", [step("delete", "a"), step("delete", "b")], "F+", "!!"),
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
    ("PVCs after a workload", [removal(WORKLOAD), removal(claim()), step("patch", "b")], "F--", "!.."),
    ("claims after the record of a deletion", [RECORD, removal(WORKLOAD), removal(claim())], "F--", "!.."),
    ("claims after the record alone", [RECORD, removal(claim())], "F-", "!."),
    ("PVCs after a Service", [step("delete", "a"), removal(claim())], "F+", "!!"),
    ("several PVCs", [removal(claim("p")), removal(claim("q")), step("patch", "b")], "F+-", "!!."),
    ("a group that restarts later", [step("create", "a", "g"), after("g"), step("create", "c", "i")], "F-+", "!.!"),
    ("a leaf of a group that restarts earlier", [leaf("Ingress"), after("g")], "F+", "!!"),
    ("no error", [step("create", "a"), step("delete", "b"), step("patch", "c")], "+++", "!!!"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "done", "tried"), [row[1:] for row in DEPENDENCIES], ids=[row[0] for row in DEPENDENCIES]
)
def test_error_stops_dependent_steps(
    server: Server, api: KubernetesApi, steps: list[Step], done: str, tried: str
) -> None:
    server.responses = [REJECTED if each == "F" else OK for each in done if each != "-"]
    results = execute(steps, Context(api))
    assert "".join("!" if result.was_tried else "." for result in results) == tried
    assert [result.is_done for result in results] == [each == "+" for each in done]
    assert len(server.requests) == tried.count("!")
    for result in results:
        if not result.was_tried:
            assert result.error is not None
            done = "deleted" if result.step.deletes else "written"
            assert result.error.startswith(f"{result.step.key} was not {done} because ")


def test_steps_are_requested_one_by_one(server: Server, api: KubernetesApi) -> None:
    counts: list[int] = []

    def steps() -> Iterator[Step]:
        for name in "ab":
            counts.append(len(server.requests))
            yield step("delete", name)

    execute(steps(), Context(api))
    assert counts == [0, 1]


def scale_down() -> tuple[Apply, Manifest]:
    """Return a step that lowers replicas, and the live object."""
    live, manifest = stored(druid.rendered("StatefulSet", {"replicas": 3})), druid.rendered("StatefulSet")
    return Apply(manifest=manifest, group="brokers", live=live, after=compare(live, manifest).predicted), live


CONFLICT = Response(409, {"message": "the object has been modified", "reason": "Conflict"})


def test_fewer_replicas_are_written_again_when_only_controllers_changed_the_object(
    server: Server, api: KubernetesApi
) -> None:
    step, live = scale_down()
    later = {**live, "metadata": {**live["metadata"], "resourceVersion": "2"}, "status": {"replicas": 3}}
    server.responses = [CONFLICT, Response(body=later), Response(body=later)]
    [result] = execute([step], Context(api))
    assert result.is_done
    assert [request.method for request in server.requests] == ["PATCH", "GET", "PATCH"]
    sent = [asked.document["metadata"]["resourceVersion"] for asked in server.requests if asked.method == "PATCH"]
    assert sent == ["1", "2"]


def test_fewer_replicas_are_not_written_over_a_later_write(server: Server, api: KubernetesApi) -> None:
    step, live = scale_down()
    later = {**live, "metadata": {**live["metadata"], "resourceVersion": "2"}, "spec": {**live["spec"], "replicas": 4}}
    server.responses = [CONFLICT, Response(body=later)]
    [result] = execute([step], Context(api))
    assert result.error is not None
    assert result.error.startswith(
        "StatefulSet druid-c-brokers was modified concurrently, so nothing was written to it. Retry."
    )
    assert len(server.requests) == 2


def test_uid_is_a_precondition_of_an_update(server: Server, api: KubernetesApi) -> None:
    before, after = config_map(a="1"), config_map(a="2")
    live = stored(before)
    server.responses = [Response(body=stored(after))]
    [result] = execute([Apply(manifest=after, live=live, after=compare(live, after).predicted)], Context(api))
    assert result.live == stored(after)
    assert server.requests[0].document == {**after, "metadata": {**after["metadata"], "uid": "uid-of-n"}}


def test_uid_is_a_precondition_of_a_deletion(server: Server, api: KubernetesApi) -> None:
    execute([step("delete", "n")], Context(api))
    assert server.requests[0].document["preconditions"] == {"uid": "uid-of-n"}


def test_managed_fields_are_written_before_the_values(server: Server, api: KubernetesApi) -> None:
    live = written_by("before-first-apply", config_map(a="1"))
    manifest = config_map(a="2")
    comparison = compare(live, manifest)
    server.responses = [Response(body=live), Response(body=stored(manifest))]
    execute(
        [Apply(manifest=manifest, live=live, after=comparison.predicted, managed_fields=comparison.managed_fields)],
        Context(api),
    )
    assert [request.headers["content-type"] for request in server.requests] == [
        ["application/json-patch+json"],
        ["application/apply-patch+yaml"],
    ]
    assert server.requests[0].document == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "1"},
        {"op": "add", "path": "/metadata/managedFields", "value": comparison.managed_fields},
    ]


def test_initial_replicas_are_released_at_once(server: Server, api: KubernetesApi) -> None:
    final, initial = druid.rendered("StatefulSet"), druid.rendered("StatefulSet", {"replicas": 3})
    del final["spec"]["replicas"]
    server.responses = [Response(body=stored(initial)), Response(body=stored(final))]
    execute([Apply(manifest=final, group="brokers", initial=initial)], Context(api))
    applied, released = server.requests
    assert applied.document["spec"] == initial["spec"]
    managers = [each["manager"] for each in released.document[1]["value"]]
    assert managers == ["druidops", "druidops-replicas"]


CONFLICTS = [
    Response(409, {"message": "the object has been modified"}),
    Response(422, {"message": "invalid", "details": {"name": "n", "causes": [{"field": "metadata.uid"}]}}),
]


@pytest.mark.parametrize("response", CONFLICTS)
def test_concurrent_modification_is_reported(server: Server, api: KubernetesApi, response: Response) -> None:
    server.responses = [response]
    manifest = config_map(a="2")
    [result] = execute([Apply(manifest=manifest, live=stored(config_map(a="1")), after=manifest)], Context(api))
    assert result.error is not None
    assert result.error.startswith("ConfigMap n was modified concurrently, so nothing was written to it.")


def recreated() -> Recreate:
    live = stored(WORKLOAD)
    return Recreate(manifest=WORKLOAD, group="brokers", live=live)


def missing() -> Response:
    return Response(404, {"message": "not found", "details": {"name": "druid-c-brokers"}})


def test_object_is_recreated_after_its_deletion(server: Server, api: KubernetesApi) -> None:
    server.responses = [OK, Response(body=stored(WORKLOAD)), missing(), Response(body=stored(WORKLOAD))]
    [result] = execute([recreated()], Context(api))
    assert result.is_done
    assert [request.method for request in server.requests] == ["DELETE", "GET", "GET", "PATCH"]
    assert server.requests[0].document["propagationPolicy"] == "Orphan"
    assert server.requests[0].document["preconditions"] == {
        "uid": "uid-of-druid-c-brokers",
        "resourceVersion": "1",
    }
    assert "uid" not in server.requests[3].document["metadata"]


def test_recreation_waits_for_a_limited_time(server: Server, api: KubernetesApi) -> None:
    server.responses = [OK, Response(body=stored(WORKLOAD))]
    [result] = execute([recreated()], Context(api))
    assert len(server.requests) == DELETION_ATTEMPTS + 1
    assert result.error is not None
    assert "must be recreated, but is still being deleted after 10 s, blocked by its dependents" in result.error


EXISTS = Response(409, {"message": "already exists", "reason": "AlreadyExists", "details": {"name": "druid-c-brokers"}})
COUNT = "count/statefulsets.apps"
FULL = Response(
    403, {"message": f"forbidden: exceeded quota: q, requested: {COUNT}=1, used: {COUNT}=2, limited: {COUNT}=2"}
)
FORBIDDEN = Response(403, {"message": "forbidden: User cannot patch resource"})


def test_object_is_recreated_after_the_quota_is_updated(server: Server, api: KubernetesApi) -> None:
    server.responses = [OK, missing(), FULL, FULL, Response(body=stored(WORKLOAD))]
    [result] = execute([recreated()], Context(api))
    assert result.is_done
    assert [request.method for request in server.requests] == ["DELETE", "GET", "PATCH", "PATCH", "PATCH"]


def test_pod_that_must_be_replaced_is_evicted(server: Server, api: KubernetesApi) -> None:
    metadata = {"name": "a-1", "namespace": "ns", "uid": "u-1"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}}
    server.responses = [OK]
    [result] = execute([Evict(group="a", live=pod, restart=Restart(2))], Context(api))
    assert (result.is_done, result.live) == (True, None)
    assert [(request.method, request.path) for request in server.requests] == [
        ("POST", "/api/v1/namespaces/ns/pods/a-1/eviction")
    ]


def dry_run_of(api: KubernetesApi, steps: list[Step]) -> tuple[tuple[Step, ...], tuple[Finding, ...]]:
    """Return the steps that the API server confirms, and its rejections."""
    reads = DryRuns(api, "ns")
    verdicts = tuple(map(reads.dry_run, steps))
    draft = DraftPlan(inputs(druid.cluster()), tuple(steps), verdicts=verdicts)
    findings = rejections(draft)
    return confirmed(draft.with_findings(findings).steps, verdicts), findings


class TestDryRun:
    @pytest.mark.parametrize("responses", [[FULL], [EXISTS, FULL]])
    def test_recreated_object_is_not_counted_twice_by_a_quota(
        self, server: Server, api: KubernetesApi, responses: list[Response]
    ) -> None:
        server.responses = [OK, *responses]
        [confirmed_step], findings = dry_run_of(api, [recreated()])
        assert findings == ()
        assert confirmed_step.after is not None
        assert confirmed_step.after["spec"] == WORKLOAD["spec"]

    @pytest.mark.parametrize(
        "responses", [[FORBIDDEN], [OK, FORBIDDEN], [OK, EXISTS, FORBIDDEN], [OK, REJECTED], [OK, EXISTS, REJECTED]]
    )
    def test_rejected_recreation(self, server: Server, api: KubernetesApi, responses: list[Response]) -> None:
        server.responses = list(responses)
        steps, [finding] = dry_run_of(api, [recreated()])
        assert (steps, finding.reason) == ((), reasons.REJECTED_BY_API_SERVER)
        assert len(server.requests) == len(responses)

    def test_step_without_a_change_is_removed(self, server: Server, api: KubernetesApi) -> None:
        live = stored(config_map(a="1"))
        server.responses = [Response(body=live | {"status": {"seen": True}})]
        steps, findings = dry_run_of(api, [Apply(manifest=config_map(a="1"), live=live, after=live)])
        assert (steps, findings) == ((), ())
        assert server.requests[0].path.endswith("dryRun=All")

    def test_step_has_the_result_of_the_dry_run(self, server: Server, api: KubernetesApi) -> None:
        after = stored(config_map(a="2"))
        server.responses = [Response(body=after)]
        [confirmed_step], findings = dry_run_of(
            api, [Apply(manifest=config_map(a="2"), live=stored(config_map(a="1")))]
        )
        assert confirmed_step.after == after
        assert findings == ()

    def test_new_object_is_always_written(self, server: Server, api: KubernetesApi) -> None:
        server.responses = [Response(body=stored(config_map()))]
        [confirmed_step], _findings = dry_run_of(api, [step("create", "n")])
        assert confirmed_step.after == stored(config_map())

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
    def test_rejection_is_a_finding(self, server: Server, api: KubernetesApi, status: int, reason: str) -> None:
        server.responses = [Response(status, {"message": "no"}), OK]
        [confirmed_step], [finding] = dry_run_of(api, [step("create", "a", "g"), step("create", "b", "h")])
        assert confirmed_step.group == "h"
        assert (finding.reason, finding.group) == (reason, "g")
        assert "ConfigMap a " in finding.message
        assert finding.message.endswith(". Nothing of group g is changed.")

    def test_missing_volume(self, server: Server, api: KubernetesApi) -> None:
        # kube-apiserver 1.34
        field, text = "spec.template.spec.containers[0].volumeMounts[2].name", 'Not found: "var"'
        causes = [{"reason": "FieldValueNotFound", "message": text, "field": field}]
        message = f'StatefulSet.apps "a" is invalid: {field}: {text}'
        server.responses = [Response(422, {"message": message, "details": {"causes": causes}})]
        _steps, [finding] = dry_run_of(api, [step("create", "a", "g")])
        assert finding.message.endswith(
            f"{message}. Add a volume of that name to the volumes of spec or of the group, or remove the volume mount. "
            "Nothing of group g is changed."
        )

    def test_missing_namespace_is_a_single_finding(self, server: Server, api: KubernetesApi) -> None:
        text, details = 'namespaces "ns" not found', {"kind": "namespaces", "name": "ns"}
        server.responses = [Response(404, {"message": text, "details": details})]
        steps, [finding] = dry_run_of(api, [step("create", "a", "g"), step("create", "b", "h")])
        assert (steps, finding.reason, finding.group) == ((), reasons.APPLY_FAILED, None)
        assert finding.message == (
            f"Cannot patch ConfigMap a in namespace ns: 404 {text}. "
            "Create the namespace first, or name another one. Nothing is changed."
        )

    def test_adoption_is_checked_with_its_result(self, server: Server, api: KubernetesApi) -> None:
        live = written_by("before-first-apply", config_map(a="1"))
        comparison = compare(live, config_map(a="1"))
        server.responses = [Response(body=live)]
        [confirmed_step], _findings = dry_run_of(
            api,
            [
                Apply(
                    manifest=config_map(a="1"),
                    live=live,
                    after=comparison.predicted,
                    managed_fields=comparison.managed_fields,
                )
            ],
        )
        assert confirmed_step.managed_fields == comparison.managed_fields
        assert [request.method for request in server.requests] == ["PUT"]

    def test_recreation_is_checked_with_its_name_and_another(self, server: Server, api: KubernetesApi) -> None:
        server.responses = [OK, EXISTS, Response(body={**stored(WORKLOAD), "from_dry_run": True})]
        [confirmed_step], _findings = dry_run_of(api, [recreated()])
        deletion, same_name, other_name = server.requests
        assert deletion.method == "DELETE"
        assert (same_name.method, same_name.document) == ("POST", WORKLOAD)
        assert other_name.path.split("?")[0].endswith("/druid-c-brokers-dry-run")
        assert all(request.path.endswith("dryRun=All") for request in server.requests)
        assert confirmed_step.after is not None
        assert confirmed_step.after["from_dry_run"]
        assert confirmed_step.after["metadata"]["name"] == "druid-c-brokers"
