# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Steps that write in Druid: their place in a plan, how they are shown, and what depends on them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import events, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import StepResult, act
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import DruidRequest, Plan, Step, druid_step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import _failures, predicted
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server

[GROUP] = druid.cluster().groups
WORKER = ObjectKey("worker", "m:8091")
DISABLE = DruidRequest("disable worker m:8091", "/druid/indexer/v1/worker/m:8091/disable")
STEP = druid_step(DISABLE, GROUP, WORKER, {"enabled": True}, {"enabled": False})
LIVE = stored(druid.rendered("StatefulSet"))
DELETION = Step("delete", LIVE, GROUP.key, LIVE)
REFUSED = Finding(reasons.UNAUTHORIZED, "403")


def executed(api: KubernetesApi, *steps: Step, failure: Finding | None = None) -> tuple[list[StepResult], list[str]]:
    """Return the results of the steps, and the titles of the requests that were sent to Druid."""
    sent: list[str] = []

    def send(request: DruidRequest) -> Finding | None:
        sent.append(request.title)
        return failure

    return list(act(api, steps, send_to_druid=send)), sent


def test_it_is_sent_to_druid_in_its_turn(server: Server, api: KubernetesApi) -> None:
    server.responses = [Response(body={})]
    results, sent = executed(api, STEP, DELETION)
    assert ([each.is_done for each in results], sent) == ([True, True], [DISABLE.title])


ENABLE = DruidRequest("enable worker m:8091", "/druid/indexer/v1/worker/m:8091/enable")
SAME_WORKER = druid_step(ENABLE, GROUP, WORKER, {"enabled": False}, {"enabled": True})
OTHER = DruidRequest("disable worker n:8091", "/druid/indexer/v1/worker/n:8091/disable")
OTHER_WORKER = druid_step(OTHER, GROUP, ObjectKey("worker", "n:8091"), {"enabled": True}, {"enabled": False})
OF_OTHER_GROUP = replace(SAME_WORKER, group="other")
FINALIZER = Step("patch", {**LIVE, "kind": "Druid"}, None, LIVE, patch=[])
# (the step after a failed request, whether it is executed)
LATER: list[tuple[str, Step, bool]] = [
    ("another worker", OTHER_WORKER, True),
    ("the same worker", SAME_WORKER, False),
    ("the same object, for another group", OF_OTHER_GROUP, True),
    ("an object of the group", DELETION, True),
    ("the finalizer", FINALIZER, True),
]


@pytest.mark.parametrize(("later", "is_tried"), [row[1:] for row in LATER], ids=[row[0] for row in LATER])
def test_a_failed_one_stops_only_those_about_the_same_object(
    server: Server, api: KubernetesApi, later: Step, is_tried: bool
) -> None:
    server.responses = [Response(body={})]
    results, _sent = executed(api, STEP, later, failure=REFUSED)
    assert [each.was_tried for each in results] == [True, is_tried]
    first, *others = _failures(results)
    assert (first.reason, first.group) == (REFUSED.reason, GROUP.key)
    skipped = [each.message for each in others if each.reason == reasons.APPLY_FAILED]
    assert all(text.endswith("was not written because worker m:8091 failed.") for text in skipped)
    assert bool(skipped) is not is_tried


def test_it_is_not_sent_after_a_failed_step_of_its_group(server: Server, api: KubernetesApi) -> None:
    server.responses = [Response(403, {"message": "no"})]
    results, sent = executed(api, DELETION, STEP, OF_OTHER_GROUP)
    assert ([each.is_done for each in results], sent) == ([False, False, True], [ENABLE.title])


def test_a_caller_that_cannot_send_it_fails(api: KubernetesApi) -> None:
    with pytest.raises(TypeError):
        act(api, [STEP])


def test_it_is_part_of_the_plan() -> None:
    plan = Plan((STEP,))
    assert plan_output.lines(plan) == ["disable worker m:8091 in Druid"]
    assert plan.titles == ["disable worker m:8091 in Druid"]
    [entry] = plan_output.diff(plan)
    assert entry["before_header"] == "worker m:8091 in Druid"
    assert ("enabled: true" in entry["before"], "enabled: false" in entry["after"]) == (True, True)


def test_it_is_not_an_object_in_kubernetes() -> None:
    assert predicted(Observed(), [STEP]) == Observed()
    assert (STEP.is_apply, STEP.restarts_pods, STEP.lowers_replicas, STEP.is_destructive) == (False,) * 4


def test_it_has_one_event() -> None:
    [done] = events.done_texts([StepResult(STEP)])
    assert done.message == "Done in Druid: disable worker m:8091. spec.enabled: True -> False"
    failed = StepResult(STEP, error="403", reason=REFUSED.reason)
    [problem] = events.problem_texts([failed], [REFUSED])
    assert (problem.kind, problem.reason) == ("Warning", REFUSED.reason)
