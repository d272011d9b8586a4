# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server that is not Druid: an ingestion reports DruidUnreachable, and is not deleted; a cluster has no answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import Question, Unavailable
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ask
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import error_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    IngestionResult,
    Inputs,
    Observed,
    Plan,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import Terminate, act
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils._operations.test_other_servers import (
    BODIES,
    SECRET,
    SPEC,
)
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import Server, say, serving
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import asking, ingestion

__all__ = ["fake_time"]

QUESTIONS = [each for each in vars(questions).values() if isinstance(each, Question)]
RULES = {"rules": [{"type": "loadForever"}], "compaction": {"skipOffsetFromLatest": "P1D"}}
INGESTIONS = {
    "stream": {"ingestion": {"type": "kafka", "nativeSpec": SPEC, **RULES}},
    "batch": {"ingestion": {"type": "native-batch", "nativeSpec": {"type": "noop"}, **RULES}},
}


def may_quote(status: int) -> bool:
    """True for an error: what is no answer of Druid's is described only."""
    return status >= 300


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.mark.parametrize("status", [200, 404, 503])
@pytest.mark.parametrize("described", INGESTIONS)
def test_druid_is_unreachable_for_an_ingestion(
    described: str, status: int, server: Server, fake_time: FakeTime
) -> None:
    client = fake_time.client(server.url, retry_timeout=0)
    for what, body in BODIES.items():
        server.answers = [say(status, body)]
        with pytest.raises(DruidError) as caught:
            pytest.fail(f"{what}: {decide(Inputs(ingestion(**INGESTIONS[described]), Observed(), asking(client)))}")
        found = error_finding(caught.value)
        assert found.reason == "DruidUnreachable", (what, found)
        assert may_quote(status) or SECRET not in found.message, (what, found)


@pytest.mark.parametrize("status", [200, 404, 503])
@pytest.mark.parametrize("kind", ["supervisor", "task"])
def test_nothing_counts_as_terminated(kind: str, status: int, server: Server, fake_time: FakeTime) -> None:
    client, step = fake_time.client(server.url, retry_timeout=0), Terminate(kind, "a")
    for what, body in BODIES.items():
        server.answers = [say(status, body)]
        acted = act(Context(None, lambda _: client), IngestionResult({}, Plan((step,)), ingestion()))  # type: ignore[arg-type]
        assert (acted.plan.steps, acted.failed_step) == ((), step), what
        [found] = acted.plan.findings
        assert found.reason == "DruidUnreachable", (what, found)
        assert may_quote(status) or SECRET not in found.message, (what, found)


@pytest.mark.parametrize("status", [200, 404, 503])
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_no_question_is_answered(question: Question[Any], status: int, server: Server, fake_time: FakeTime) -> None:
    client = fake_time.client(server.url, retry_timeout=0)
    for what, body in BODIES.items():
        server.answers = [say(status, body)]
        answer = ask(client, [question])[question]
        if question in (questions.SEGMENTS, questions.VISIBLE) and answer in ({}, frozenset()):
            # an empty result: no other request shows whether a Broker is there
            continue
        assert isinstance(answer, Unavailable), (what, answer)
        assert may_quote(status) or SECRET not in answer.message, what
