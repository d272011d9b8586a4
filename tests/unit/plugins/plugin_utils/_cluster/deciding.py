# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Inputs of decisions, built without an API: what a decision reads is in a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import DruidState, Question
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_state
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decision import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import deletes_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, spec_errors
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored


class Answers(ClusterReads):
    """What the API server and Druid answer, as a table; `asked` has what was read, in order.

    `objects` without the label of the cluster, `lists` by kind (empty by default), `classes` of storage, `verdicts` on
    steps by object (accepted by default), and `answers` of Druid: None fails the test. `druid` was asked before. `logs`
    are by pod, empty by default.
    """

    def __init__(
        self,
        objects: Iterable[Manifest] = (),
        lists: Mapping[str, Sequence[Manifest]] | None = None,
        classes: Mapping[str, Manifest | str] | None = None,
        verdicts: Mapping[ObjectKey, Verdict] | None = None,
        answers: Mapping[Question[Any], Any] | None = None,
        druid: DruidState | None = None,
        logs: Mapping[str, str] | None = None,
    ) -> None:
        self.objects = {key_of(each): each for each in objects}
        self.lists, self.classes, self.verdicts, self.answers = lists or {}, classes or {}, verdicts or {}, answers
        self.druid = druid or DruidState()
        self.logs, self._known, self._subjects = logs or {}, {}, []
        self.asked: list[Any] = []

    def get(self, kind: str, name: str) -> Manifest | None:
        self._note(ObjectKey(kind, name))
        return self.objects.get(ObjectKey(kind, name))

    def list_objects(self, kind: str, label_selector: str = "", field_selector: str = "") -> tuple[Manifest, ...]:
        self._note(kind)
        return tuple(self.lists.get(kind, ()))

    def read_objects(self) -> Iterator[Manifest]:
        return (self.objects[each] for each in self.asked if isinstance(each, ObjectKey) and each in self.objects)

    def pod_log(self, pod: str, container: str, previous: bool) -> str:
        self._note(("log", pod, container, previous))
        return self.logs.get(pod, "")

    def storage_class(self, name: str) -> Manifest | str:
        return self.classes[name]

    def dry_run(self, step: Step) -> Verdict:
        self._note(step)
        return self.verdicts.get(step.key) or _accepted(step)

    def existing(self, creation: Apply) -> Manifest | None:
        return self.get(*creation.key)

    def dry_run_of_creation(self, step: Step) -> Verdict:
        return self.verdicts.get(step.key) or Verdict(step)

    def ask_druid(self, _inputs: Inputs, questions: tuple[Question[Any], ...]) -> DruidState:
        if missing := self.druid.missing_answers(questions):
            assert self.answers is not None, missing
            self.asked.append(missing)
            self.druid = self.druid.with_answers({question: self.answers[question] for question in missing})
        return DruidState({question: self.druid.answer(question) for question in questions})

    def _note(self, read: Any) -> None:
        """Equal reads are answered once."""
        if read not in self.asked:
            self.asked.append(read)

    @property
    def dry_runs(self) -> list[Step]:
        """The steps about which the API server was asked."""
        return [each for each in self.asked if isinstance(each, Step)]

    @property
    def questions(self) -> list[tuple[Question[Any], ...]]:
        """The questions to Druid that were sent together."""
        return [each for each in self.asked if isinstance(each, tuple) and isinstance(each[0], Question)]


# The resource of the inputs.
UNCHANGED = "unchanged"
TABLE = ("objects", "lists", "classes", "verdicts", "answers", "druid", "logs")


def _accepted(step: Step) -> Verdict:
    return Verdict(step, None if step.deletes else step.after or stored(step.manifest))


def inputs(cluster: Cluster, observed: Observed | None = None, **more: Any) -> Inputs:
    """Return the inputs of a decision about a cluster; its resource has the required finalizer.

    `more` are other inputs, or what is in the table of answers.
    """
    live = observed or Observed()
    finalizers = [names.FINALIZER] if deletes_claims(cluster.spec) else []
    metadata = {"name": cluster.name, "namespace": cluster.namespace, "uid": cluster.uid, "finalizers": finalizers}
    resource = {**druid.resource(), "metadata": metadata, "spec": cluster.spec}
    defaults = {"resource": resource, "cluster": cluster, "observed": live, "desired": desired_state(cluster, live)}
    table = {name: more.pop(name) for name in TABLE if name in more}
    found = Inputs(**{**defaults, "reads": Answers(), **more})
    return found if "reads" in more else with_answers(found, **table)


def with_answers(found: Inputs, *, latest: Manifest | str | None = UNCHANGED, **table: Any) -> Inputs:
    """Return the inputs with another table of answers; `latest` is the resource as it is now."""
    now = {"kind": names.KIND, **found.resource} if latest == UNCHANGED else latest
    objects = (*table.pop("objects", ()), *(() if now is None else (now,)))
    return replace(found, reads=Answers(objects, **table))


def answers_of(found: Inputs) -> Answers:
    """Return the table of the inputs."""
    assert isinstance(found.reads, Answers)
    return found.reads


def decided(found: Inputs) -> Plan:
    """Return the plan."""
    return decide(found)[0]


def decided_with_live(found: Inputs) -> tuple[Plan, Observed]:
    """Return the plan, and the live objects that it is based on."""
    plan, drafted = decide(found)
    return plan, (drafted.inputs if drafted else found).observed


def inputs_of(resource: dict[str, Any], **more: Any) -> Inputs:
    """Return the inputs of a decision about a resource that has no objects yet."""
    errors = spec_errors(names.KIND, resource)
    cluster = Cluster.from_resource({**resource, "spec": {}} if errors else resource)
    return inputs(cluster, resource=resource, schema_errors=errors, **more)


def draft(
    cluster: Cluster, observed: Observed | None = None, steps: Sequence[Step] = (), findings: Sequence[Finding] = ()
) -> DraftPlan:
    """Return a draft with these candidates and findings."""
    return DraftPlan(inputs(cluster, observed), tuple(steps), tuple(findings))
