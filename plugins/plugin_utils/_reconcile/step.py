# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A step: one write of a plan. Each type knows what it is called, how it is carried out, and who depends on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

if TYPE_CHECKING:
    # Steps are part of decisions, which are pure: only their execution accesses the API.
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi

# Gets what needs the connection to Druid, and a function that writes with its client. Returns a finding if it fails.
ToDruid = Callable[[str, Callable[[Any], Finding | None]], Finding | None]


def without_druid(purpose: str, _write: Callable[[Any], Finding | None]) -> Finding | None:
    """Refuse to write: a caller that has steps in Druid specifies how it is reached."""
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
    """What steps are carried out with: Kubernetes, Druid, and a function that is called before each step."""

    api: KubernetesApi
    to_druid: ToDruid = without_druid
    announce: Callable[[Any], None] = announce_nothing


class Step(ABC):
    """One write."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What it does, for people."""

    @abstractmethod
    def carry_out(self, context: Context) -> Result[Any]:
        """Return the result of the write; KubernetesError if it failed."""

    def blocks(self, _step: Any) -> bool:
        """Return whether a later step is skipped because this one failed."""
        return True

    def explain(self, error: KubernetesError) -> str:
        """Return why the step failed."""
        return str(error)

    @abstractmethod
    def skipped(self, failed: Any) -> str:
        """Return that the step was skipped because of a failed one."""


_Step = TypeVar("_Step", bound=Step)


@dataclass(frozen=True)
class Result(Generic[_Step]):
    """The result of a step: the live object (None: deleted, or in Druid), or why it failed or was skipped.

    `reason`: that of the failure, if it is not the general one.
    """

    step: _Step
    live: Manifest | None = None
    error: str | None = None
    was_tried: bool = True
    reason: str | None = None

    @property
    def is_done(self) -> bool:
        return self.error is None


def execute(steps: Iterable[_Step], context: Context) -> tuple[Result[_Step], ...]:
    """Carry out the steps in order, and return their results. An error stops only the steps that depend on it."""
    results: list[Result[_Step]] = []
    for step in steps:
        failed = next((each.step for each in results if not each.is_done and each.step.blocks(step)), None)
        if failed is None:
            context.announce(step)
            results.append(_carried_out(step, context))
        else:
            results.append(Result(step, error=step.skipped(failed), was_tried=False))
    return tuple(results)


def _carried_out(step: _Step, context: Context) -> Result[_Step]:
    try:
        return step.carry_out(context)
    except KubernetesError as error:
        return Result(step, error=step.explain(error))
