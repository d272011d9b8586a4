# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Steps that write in Druid: their place in a plan, how they are shown, and what depends on them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Forbidden
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import events, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import ChangeFinalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import Post
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, predicted
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import (
    Context,
    StepResult,
    execute,
    failures,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server

[GROUP] = druid.cluster().groups
LIVE = stored(druid.rendered("StatefulSet"))
DELETION = Delete(group=GROUP.key, live=LIVE)
REFUSED = Forbidden(403, "", "POST", "http://r")


def request(verb: str = "disable", worker: str = "m:8091", group: str = GROUP.key) -> Post:
    """Return the request that disables or enables a worker."""
    states = ({"enabled": verb == "disable"}, {"enabled": verb == "enable"})
    what, path = ObjectKey("worker", worker), f"/druid/indexer/v1/worker/{worker}/{verb}"
    return Post(group=group, what=what, action=f"{verb} worker {worker}", path=path, states=states)


STEP = request()


def executed(
    api: KubernetesApi, *steps: Step, failure: DruidError | None = None
) -> tuple[list[StepResult[Step]], list[str]]:
    """Return the results of the steps, and the paths of the requests that were sent to Druid."""
    sent: list[str] = []

    class Client:
        """Records the requests, or fails."""

        def post(self, path: str, _body: Any, **_options: Any) -> None:
            sent.append(path)
            if failure is not None:
                raise failure

    return list(execute(steps, Context(api, lambda _purpose: Client()))), sent


def test_it_is_sent_to_druid_in_its_turn(server: Server, api: KubernetesApi) -> None:
    server.responses = [Response(body={})]
    results, sent = executed(api, STEP, DELETION)
    assert ([each.is_done for each in results], sent) == ([True, True], [STEP.path])


SAME_WORKER = request("enable")
OTHER_WORKER = request(worker="n:8091")
OF_OTHER_GROUP = request("enable", group="other")
FINALIZER = ChangeFinalizer(live=LIVE, patch=[])
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
    first, *others = failures(results, with_skipped=True)
    assert (first.reason, first.group) == (reasons.UNAUTHORIZED, GROUP.key)
    skipped = [each.message for each in others if each.reason == reasons.APPLY_FAILED]
    assert all(text.endswith("was not written because worker m:8091 failed.") for text in skipped)
    assert bool(skipped) is not is_tried


def test_it_is_not_sent_after_a_failed_step_of_its_group(server: Server, api: KubernetesApi) -> None:
    server.responses = [Response(403, {"message": "no"})]
    results, sent = executed(api, DELETION, STEP, OF_OTHER_GROUP)
    assert ([each.is_done for each in results], sent) == ([False, False, True], [SAME_WORKER.path])


def test_a_caller_that_cannot_send_it_fails(api: KubernetesApi) -> None:
    with pytest.raises(TypeError):
        execute([STEP], Context(api))


def test_it_is_part_of_the_plan() -> None:
    plan = Plan((STEP,))
    assert plan_output.lines(plan) == ["disable worker m:8091 in Druid"]
    assert plan.titles == ["disable worker m:8091 in Druid"]
    [entry] = plan_output.diff(plan)
    assert entry["before_header"] == "worker m:8091 in Druid"
    assert ("enabled: true" in entry["before"], "enabled: false" in entry["after"]) == (True, True)


def test_it_is_not_an_object_in_kubernetes() -> None:
    assert predicted(Observed(), [STEP]) == Observed()
    assert (STEP.manifest, STEP.restart.is_requested, STEP.is_destructive) == ({}, False, False)


def test_it_has_one_event() -> None:
    [result] = events.done_texts([StepResult(STEP)])
    assert result.message == "Done in Druid: disable worker m:8091. enabled: True -> False"
    failed = StepResult(STEP, error="403", reason=reasons.UNAUTHORIZED)
    [problem] = events.problem_texts([failed], failures([failed]))
    assert (problem.kind, problem.reason) == ("Warning", reasons.UNAUTHORIZED)
