# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a reconcile: steps, findings, and what came of it. Each kind has its own types of steps. Pure.

A step is one write: each type knows what it is called, how it is carried out, and who depends on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar, cast

from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import masked_pair
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, finalizer_patch
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import (
    Finding,
    pending_changes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import NO_SECRETS, Masking

if TYPE_CHECKING:
    # Steps are part of decisions, which are pure: only their execution accesses the API.
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi


# The end of a line about a destructive change.
DESTRUCTIVE = " (destructive)"
# The beginning of a line about a change that a pause defers.
PENDING = "pending: "
# Gets what needs the connection to Druid, and returns its client, which is connected when it is first used.
Druid = Callable[[str], Any]


def without_druid(purpose: str) -> Any:
    """Refuse to connect: a caller that has steps in Druid specifies how it is reached."""
    raise TypeError(purpose)


def announce_nothing(_step: Any) -> None:
    """Do nothing before a step."""


@dataclass(frozen=True)
class EventText:
    """Type, reason and message of an event."""

    kind: Literal["Normal", "Warning"]
    reason: str
    message: str


@dataclass(frozen=True)
class Context:
    """What steps are carried out with: Kubernetes, Druid, and a function that is called before each step.

    `state` is the reconcile as the steps before have left it, for steps that depend on it.
    """

    api: KubernetesApi
    druid: Druid = without_druid
    announce: Callable[[Any], None] = announce_nothing
    state: Completed[Any] | None = None


@dataclass(frozen=True)
class Difference:
    """Before and after of a change, with their secrets marked. None: it does not exist."""

    what: str
    before: Any
    after: Any

    def shown(self, masking: Masking = NO_SECRETS) -> dict[str, Any]:
        """Return what Ansible's callbacks show: secrets are masked, and whether a marked one has changed is visible."""
        before, after = self.masked(masking)
        return {"before": before or "", "after": after or "", "before_header": self.what, "after_header": self.what}

    def masked(self, masking: Masking) -> tuple[Any, Any]:
        """Return before and after without the marked secrets, and without those of `masking`."""
        before, after = masked_pair(self.before, self.after)
        return masking.everything(before), masking.everything(after)


class Operation(NamedTuple):
    """What is done to an object: the word for it, the reasons of its events (empty: none), and its part of a metric."""

    verb: str = ""
    reason: str = ""
    reason_of_failure: str = ""
    counted: Literal["applied", "removed"] | None = None


class Shown(ABC):
    """What is shown of a write: in a plan, and once it is done."""

    # It is a write in Druid.
    in_druid: ClassVar[bool] = False

    @property
    @abstractmethod
    def title(self) -> str:
        """What it does, for people."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the plan: its title, and what follows from it."""
        return (f"{self.title}{DESTRUCTIVE if self.is_destructive else ''}",)

    @property
    def is_destructive(self) -> bool:
        """Whether data is lost because of it, now or later, or a part of Druid is missing."""
        return False

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Before and after of each change."""
        return ()

    @property
    def operation(self) -> Operation:
        """What it is in events and in metrics."""
        return Operation()

    @property
    def message(self) -> str:
        """The message of the event about its success."""
        return f"Done: {self.title}."

    @property
    def event(self) -> EventText | None:
        """The event about its success."""
        return EventText("Normal", reason, self.message) if (reason := self.operation.reason) else None


class Step(Shown):
    """One write."""

    @abstractmethod
    def carry_out(self, context: Context) -> StepResult[Any]:
        """Return the result of the write; KubernetesError if it failed."""

    def blocks(self, _step: Any) -> bool:
        """Return whether a later step is skipped because this one failed."""
        return True

    def explain(self, error: KubernetesError) -> str:
        """Return why the step failed."""
        return str(error)

    def skipped(self, failed: Any) -> str:
        """Return that the step was skipped because of a failed one."""
        return f"Not done: {self.title}, because of a failure: {failed.title}."

    def finding(self, result: StepResult[Any]) -> Finding:
        """Return the finding about its failure, or that it was skipped."""
        return Finding(result.reason or reasons.APPLY_FAILED, result.error or "")


_Step = TypeVar("_Step", bound=Step)


@dataclass(frozen=True)
class StepResult(Generic[_Step]):
    """The result of a step: the live object (None: deleted, or in Druid), or why it failed or was skipped.

    `reason`: that of the failure, if it is not the general one. `state`: what the steps after it find, even after a
    failure; None: the same as before. `warnings` are about what was written. `further` are steps that this one has
    required, and done.
    """

    step: _Step
    live: Manifest | None = None
    error: str | None = None
    was_tried: bool = True
    reason: str | None = None
    state: Completed[Any] | None = None
    warnings: tuple[str, ...] = ()
    further: tuple[_Step, ...] = ()

    @property
    def is_done(self) -> bool:
        return self.error is None


def execute(steps: Iterable[_Step], context: Context) -> tuple[StepResult[_Step], ...]:
    """Carry out the steps in order, and return their results. An error stops only the steps that depend on it."""
    results: list[StepResult[_Step]] = []
    for step in steps:
        failed = next((each.step for each in results if not each.is_done and each.step.blocks(step)), None)
        if failed is None:
            context.announce(step)
            results.append(_carried_out(step, context))
            context = replace(context, state=state_after(results, context.state))
        else:
            results.append(StepResult(step, error=step.skipped(failed), was_tried=False))
    return tuple(results)


def state_after(results: Iterable[StepResult[Any]], before: Completed[Any] | None) -> Completed[Any] | None:
    """Return the reconcile after the steps."""
    return next((each.state for each in reversed([*results]) if each.state is not None), before)


def completed(results: Iterable[StepResult[_Step]]) -> tuple[_Step, ...]:
    """Return the steps that were carried out, in order."""
    return tuple(step for each in results if each.is_done for step in (each.step, *each.further))


def failures(results: Iterable[StepResult[Any]], *, with_skipped: bool = False) -> tuple[Finding, ...]:
    """Return a finding for each step that failed, and for those that were skipped if they are requested, too."""
    return tuple(each.step.finding(each) for each in results if each.error and (each.was_tried or with_skipped))


def _carried_out(step: _Step, context: Context) -> StepResult[_Step]:
    try:
        return step.carry_out(context)
    except KubernetesError as error:
        return StepResult(step, error=step.explain(error))


@dataclass(frozen=True)
class WriteResource(Shown):
    """A write of the resource by ``submit``: no step, since it is written, or dry-run, before anything is decided."""

    verb: str
    kind: str
    name: str

    @property
    def title(self) -> str:
        return f"{self.verb} {self.kind} {self.name}"


@dataclass(frozen=True)
class DeleteResource(Step):
    """The deletion of the resource, whose finalizer the reconciles after it run.

    A cluster has steps of its own for this and for its finalizer: they are dry-run, have a diff, and others wait for
    them.
    """

    resource: Manifest

    @property
    def title(self) -> str:
        return f"delete {self.resource['kind']} {self.resource['metadata']['name']}"

    def carry_out(self, context: Context) -> StepResult[Any]:
        metadata = self.resource["metadata"]
        context.api.delete(self.resource["kind"], metadata["namespace"], metadata["name"], metadata["uid"])
        return StepResult(self)


@dataclass(frozen=True)
class Finalizer(Step):
    """Set or remove the finalizer of this name, of the resource in the state."""

    name: str
    is_set: bool

    @property
    def title(self) -> str:
        return f"{'set' if self.is_set else 'remove'} the finalizer"

    def carry_out(self, context: Context) -> StepResult[Any]:
        """Return the state with the resource after the change; without a finalizer it may be deleted already."""
        if context.state is None:
            raise TypeError(self.title)
        resource = context.state.resource
        metadata = resource["metadata"]
        try:
            written = context.api.json_patch(
                resource["kind"], metadata["namespace"], metadata["name"], self._operations(resource)
            )
        except ApiError as error:
            if not error.is_missing_object or self.is_set:
                raise
            written = resource
        return StepResult(self, state=replace(context.state, resource=written, is_deleted=not self.is_set))

    def _operations(self, resource: Manifest) -> list[dict[str, Any]]:
        """Return the JSON patch."""
        return finalizer_patch(resource, self.name, is_desired=self.is_set)


_ShownStep = TypeVar("_ShownStep", bound=Shown)
# The default of the status in the CRDs.
NEVER_RECONCILED = {"observedGeneration": -1}


@dataclass(frozen=True)
class Plan(Generic[_ShownStep]):
    """All writes of a reconcile in order, findings about blocked ones, and warnings.

    `pending` are the writes that a pause defers: they are made when it ends.
    """

    steps: tuple[_ShownStep, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    pending: tuple[_ShownStep, ...] = ()

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_problem)

    @property
    def reported(self) -> tuple[str, ...]:
        """All warnings for the user."""
        return self.warnings

    @property
    def changes(self) -> bool:
        return bool(self.steps)

    @property
    def is_destructive(self) -> bool:
        """True when a step is, also one that a pause defers."""
        return any(step.is_destructive for step in (*self.steps, *self.pending))

    @property
    def shows_steps(self) -> bool:
        """True if lines and diff have steps."""
        return bool(self.steps or self.pending)

    def following(self, earlier: Self) -> Self:
        """Return the plan of a later reconcile with the steps of the earlier one before its own."""
        return replace(self, steps=(*earlier.steps, *self.steps))

    def with_texts(self, change: Callable[[str], str]) -> Self:
        """Return the plan with this change of all its texts, apart from those of the steps."""
        findings = tuple(replace(each, message=change(each.message)) for each in self.findings)
        return replace(self, findings=findings, warnings=tuple(map(change, self.warnings)))

    @property
    def titles(self) -> list[str]:
        """The title of each change, in order."""
        return [step.title for step in self.steps]

    def paused(self, pause: Finding) -> Self:
        """Return the plan of a paused resource: its changes are pending, and its findings are not problems."""
        blockers = tuple(replace(finding, is_problem=False) for finding in self.findings)
        pending = pending_changes(self.titles, self.problems)
        warnings = (*self.warnings, *(finding.message for finding in pending))
        findings = (pause, *pending, *blockers)
        return replace(self, steps=(), pending=self.steps, findings=findings, warnings=warnings)


_Plan = TypeVar("_Plan", bound=Plan[Any])


@dataclass(frozen=True)
class Completed(Generic[_Plan]):
    """What came of a reconcile: the plan has only completed steps, except in check mode, and all findings.

    `is_deleted`: the finalizer was removed, so that the resource is deleted.
    """

    resource: Manifest
    plan: _Plan
    is_deleted: bool = field(default=False, kw_only=True)

    @property
    def previous(self) -> Mapping[str, Any]:
        """The status before the reconcile; empty before the first one, where the CRD has a default."""
        return previous_status(self.resource)

    def with_findings(self, *findings: Finding) -> Self:
        """Return the reconcile with further findings."""
        return replace(self, plan=replace(self.plan, findings=(*self.plan.findings, *findings)))

    def blocked(self, *problems: Finding) -> Self:
        """Return the reconcile with these findings, and nothing to do."""
        return replace(self, plan=replace(self.plan, steps=())).with_findings(*problems)

    def after(self, results: Iterable[StepResult[Any]]) -> Self:
        """Return the reconcile after its steps: with the completed ones, and a finding about each that failed."""
        results = tuple(results)
        result = cast(Self, state_after(results, self))
        warnings = (*result.plan.warnings, *(text for each in results for text in each.warnings))
        plan = replace(result.plan, steps=completed(results), warnings=warnings)
        return replace(result, plan=plan).with_findings(*failures(results))


def previous_status(resource: Manifest) -> Mapping[str, Any]:
    """Return the status of a resource; empty before its first reconcile."""
    status = resource.get("status") or {}
    return {} if status == NEVER_RECONCILED else status
