# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is looked at once something was done: how it is now, and what Druid has made of what it was given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.act import act
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.ask import see
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.datasource import kept
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.made import Made, made_of, otherwise
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Converge, Remember
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record import Record
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.seen import Seen, SeenSupervisor
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.settings import Pass
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi


def look_again(api: KubernetesApi, client: DruidClient, done: Pass, record: Record) -> Pass:
    """Return the pass with how it is now. What Druid has made something else of is remembered: see ``made``."""
    ingestion = Ingestion.from_resource(done.resource)
    given = [step.what for step in done.plan.steps if isinstance(step, Converge)]
    try:
        seen = see(client, ingestion, record, {})
        there = _there(client, ingestion, record, seen) if given else iter(())
        news = otherwise(given, there)
    except DruidError:
        # what is not found out now is found out in the next pass, which gives it once more
        return done
    done = replace(done, seen=seen)
    if not news:
        return done
    return _remember(api, done, record, {**made_of(done.observed.record, ingestion), **news})


def _there(client: DruidClient, ingestion: Ingestion, record: Record, seen: Seen) -> Iterator[Converge]:
    if isinstance(seen, SeenSupervisor):
        yield Converge(f"supervisor {seen.id}", seen.resource, seen.change)
    yield from kept(client, ingestion, record)


def _remember(api: KubernetesApi, done: Pass, record: Record, news: Made) -> Pass:
    acted = act(api, None, done.resource, (Remember(record, made=news),))
    plan = acted.plan(done.plan)
    return replace(done, plan=replace(plan, steps=(*done.plan.steps, *plan.steps)), tried=acted.failed)
