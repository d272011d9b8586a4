# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kind of resource: what the kernel needs to know of it, and its reconcile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.census import ConditionsByType, Status
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    backoff_since,
    is_settled,
    with_short_messages,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import (
    NO_SECRETS,
    Masking,
    TextPath,
    masked_errors,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.operator_environment import is_too_often
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import (
    PENDING,
    Completed,
    EventText,
    Plan,
    WriteResource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    Conditions,
    Report,
    StatusChange,
    is_new_generation,
    publish,
    ready_message,
    report_observe_failure,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Options, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import Submitted
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, Progress, delete_resource

_Options = TypeVar("_Options", bound=Options)
_Result = TypeVar("_Result")
_Plan = TypeVar("_Plan", bound=Plan[Any])


class Counts(NamedTuple):
    """The numbers of objects that a plan applies and removes."""

    applied: int
    removed: int


class Kind(ABC, Generic[_Options, _Result, _Plan]):
    """A kind of resource; `_Result` is what its reconcile found and did.

    The names of its gauges begin with `plural`: the number of resources, and the number per type of condition.
    `finalizer` is the name of its finalizer, which is also in watches.yaml: the API server's warnings about it are not
    reported. `variable` is the role's variable with the resource, `role_variables` are variables of the role besides
    those for options, without their prefix. `arguments` are options of the action besides the common ones. A task
    waits while all problems have a `transient` reason, and it is not `stuck`. A resource that is not Ready for a
    `requested` reason is as requested. `texts` are texts in its status besides messages. With `reads_cache`, the
    operator reads its cache first: ansible-operator then watches all kinds that are read, of which there must be few.
    """

    name: ClassVar[str]
    plural: ClassVar[str]
    condition_types: ClassVar[tuple[str, ...]]
    finalizer: ClassVar[str]
    variable: ClassVar[str]
    arguments: ClassVar[Mapping[str, Any]]
    transient: ClassVar[frozenset[str]]
    requested: ClassVar[frozenset[str]]
    texts: ClassVar[tuple[TextPath, ...]] = ()
    role_variables: ClassVar[tuple[str, ...]] = ()
    reads_cache: ClassVar[bool] = True
    plan: type[_Plan]

    @property
    def prefix(self) -> str:
        """The prefix of the role's variables."""
        return self.variable.removesuffix("resource")

    # A task: its options, and what it does.

    @abstractmethod
    def to_options(self, arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> _Options:
        """Return the options of a reconcile from the arguments of the action."""

    @abstractmethod
    def reconcile_once(self, api: KubernetesApi, resource: Manifest, options: _Options, now: datetime) -> _Result:
        """Observe, decide and act; KubernetesError if the API cannot be read."""

    def delete_resource(
        self, api: KubernetesApi, request: Request[_Options], progress: Progress, clock: Clock
    ) -> Outcome[_Plan]:
        """Delete the resource and run its finalizer, with `wait` until it is deleted."""
        return delete_resource(self, api, request, progress, clock)

    @abstractmethod
    def delete_without_resource(
        self, api: KubernetesApi, request: Request[_Options], progress: Progress, clock: Clock
    ) -> Outcome[_Plan]:
        """Delete what was reconciled without a resource."""

    # The result for Ansible.

    def submitted(self, resource: Manifest, submitted: Submitted) -> _Plan:
        """Return the plan of the write of the resource itself."""
        if submitted.operation is None:
            return self.plan()
        return self.plan((WriteResource(submitted.operation, resource["kind"], resource["metadata"]["name"]),))

    def lines(self, plan: _Plan) -> list[str]:
        """Return the plan as lines of text."""
        pending = (f"{PENDING}{line}" for step in plan.pending for line in step.lines)
        return [*(line for step in plan.steps for line in step.lines), *pending]

    def diff(self, plan: _Plan, masking: Masking = NO_SECRETS) -> list[dict[str, Any]]:
        """Return before and after of each change, with masked secrets."""
        return [each.shown(masking) for step in (*plan.steps, *plan.pending) for each in step.differences]

    @abstractmethod
    def details(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return fields of the status for the result."""

    def hint(self, _outcome: Outcome[_Plan], _request: Request[_Options]) -> str:
        """Return what to do about a task that timed out, or an empty text."""
        return ""

    def count(self, plan: _Plan) -> Counts:
        """Return the numbers of objects for the metrics of a task."""
        counted = [step.operation.counted for step in plan.steps]
        return Counts(counted.count("applied"), counted.count("removed"))

    # The report.

    @abstractmethod
    def completed(self, result: _Result, check_mode: bool) -> Completed[_Plan]:
        """Return what came of the reconcile."""

    @abstractmethod
    def masker(self, result: _Result) -> Masker:
        """Return what masks the secrets in all that was read."""

    @abstractmethod
    def status(self, result: _Result, plan: _Plan, now: datetime, check_mode: bool) -> dict[str, Any]:
        """Return the whole status. The texts of `plan` are masked already, those of the status (`texts`) later."""

    def events(self, _result: _Result, completed: Completed[_Plan], change: StatusChange) -> Iterable[EventText]:
        """Yield the events of the completed steps and of new problems. Their messages are masked later."""
        yield from filter(None, (step.event for step in completed.plan.steps))
        if change.has_new_problems:
            yield from (EventText("Warning", each.reason, each.message) for each in completed.plan.problems)

    def is_settled(self, conditions: Conditions) -> bool:
        """Return whether the conditions are those of a requested state."""
        return is_settled(conditions, self.requested)

    def requeue_after(self, status: Mapping[str, Any], now: datetime, _has_changed: bool) -> int | None:
        """Return the seconds until the next reconcile, None for the regular period.

        `has_changed`: something was written, or the generation is new.
        """
        by_type = {each["type"]: each for each in status["conditions"]}
        if self.is_settled(by_type.values()) and by_type["Progressing"]["status"] != "True":
            return None
        return backoff_since(by_type["Ready"]["lastTransitionTime"], now)

    def progress(self, status: Mapping[str, Any]) -> str:
        """Return a line about what is awaited."""
        return ready_message(status)

    def after_failed_read(self, status: Mapping[str, Any]) -> dict[str, Any]:
        """Return the status adapted to conditions that report a failed read."""
        return dict(status)

    def stuck(self, _result: _Result, _plan: _Plan, _now: datetime) -> str:
        """Return why the desired state is not reached by itself, empty if it may be."""
        return ""

    # Metrics of all resources.

    @abstractmethod
    def is_as_desired(self, conditions: ConditionsByType) -> bool:
        """Return whether the conditions, which include Ready, are those of the desired state."""

    def gauges(self, _statuses: Sequence[Status]) -> Mapping[str, float]:
        """Return additional gauges."""
        return {}

    # What is the same for each kind.

    def reconcile(self, api: KubernetesApi, resource: Manifest, options: _Options, now: datetime) -> Report[_Plan]:
        """Reconcile a resource: from the API, or (without a uid) built from a spec.

        KubernetesError if the API cannot be read; the conditions report it. All other problems are in the report.
        """
        try:
            with masked_errors(resource):
                result = self.reconcile_once(api, resource, options, now)
        except KubernetesError as error:
            if not options.check_mode:
                report_observe_failure(api, resource, error, now, self.after_failed_read)
            raise
        with options.phases("report"):
            return self.report(api, result, options.check_mode, now)

    def report(self, api: KubernetesApi, result: _Result, check_mode: bool, now: datetime) -> Report[_Plan]:
        """Write status and events (never in check mode, never without a resource) and return the report."""
        masking = Masking(partial(self.masker, result))
        masked = masking.text
        completed = self.completed(result, check_mode)
        plan = completed.plan.with_texts(masked)
        if not check_mode:
            # A result is about what was done, and the conditions name what a pause defers.
            plan = replace(plan, pending=())
        completed = replace(completed, plan=plan)
        document = self.status(result, plan, now, check_mode)
        if document != completed.previous:
            document = with_short_messages(masking.status(document, self.texts))
        reported = (text for text in api.warnings if self.finalizer not in text)
        warnings = tuple(dict.fromkeys(map(masked, (*plan.reported, *reported))))
        errors: tuple[str, ...] = ()
        is_stored, is_planned = "uid" in completed.resource["metadata"], check_mode and plan.changes
        texts: tuple[EventText, ...] = ()
        if is_stored and not is_planned:
            change = StatusChange(completed.previous, document, warnings)
            texts = tuple(
                replace(each, message=masked(each.message)) for each in self.events(result, completed, change)
            )
        is_known = is_stored and not (plan.changes or texts) and document == completed.previous
        if is_stored and not is_known and not check_mode:
            errors = tuple(map(masked, publish(api, completed, document, texts, now)))
        # If the status cannot be written, the generation would be new in every reconcile.
        is_new = is_stored and not errors and is_new_generation(completed.resource)
        return Report(
            plan,
            document,
            (*warnings, *errors),
            self.requeue_after(document, now, plan.changes or is_new),
            errors,
            completed.is_deleted,
            self.is_settled(document["conditions"]) or any(each.reason not in self.transient for each in plan.problems),
            self.progress(document),
            masked(stuck) if (stuck := self.stuck(result, plan, now)) else "",
            is_known,
            is_too_often(completed.resource["metadata"].get("annotations") or {}),
            masking,
        )
