# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a decision is based on, as one value, and what it can ask for in addition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.state import DruidState, Question
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.gather import Need


@dataclass(frozen=True)
class Inputs:
    """The resource, its cluster, the live objects with its label, the rendered objects, and what the options allow.

    `schema_errors`: the spec cannot be read, and `cluster` has an empty one. `check_mode`: nothing will be written, and
    the resource may be the result of a dry run, with a generation that is not stored. `now` is the time of the
    reconcile. The last fields are gathered when a decision asks for them: objects without the label by name (`Get`),
    lists by kind (`List`), dry runs (`DryRun`), the resource once more (`GetResource`), as the only element (None:
    deleted), storage classes by name (`GetStorageClasses`), or why one could not be read, the dry runs of patches that
    were rejected, or that changed nothing (`DryRunPatches`), what Druid answers (`AskDruid`; None: it was not asked),
    the dry runs of workloads whose pod templates seem to differ (`DryRunTemplates`), those of objects that seem to need
    a recreation (`DryRunRecreations`), and the groups for whose volumes no other group waits (`LetOthersGrow`).
    """

    resource: Manifest
    cluster: Cluster
    observed: Observed
    desired: Desired
    schema_errors: tuple[Finding, ...] = ()
    allowed_reference_namespaces: tuple[str, ...] = ()
    keep_finalizer: bool = False
    check_mode: bool = False
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    unlisted: Mapping[ObjectKey, Manifest] | None = None
    lists: Mapping[str, tuple[Manifest, ...]] = field(default_factory=dict)
    verdicts: Mapping[ObjectKey, Verdict] | None = None
    latest: tuple[Manifest | None, ...] = ()
    storage_classes: Mapping[str, Manifest | str] | None = None
    rejected_patches: Mapping[ObjectKey, Finding] | None = None
    ignored_patches: frozenset[ObjectKey] = frozenset()
    druid: DruidState | None = None
    templates: Mapping[ObjectKey, Verdict] | None = None
    recreations: Mapping[ObjectKey, Verdict] | None = None
    blocked_expansions: frozenset[str] = frozenset()

    @cached_property
    def live(self) -> Observed:
        """The live objects of the cluster, including those that only a name or another LIST finds."""
        found = (live for live in (self.unlisted or {}).values() if is_ours(live, self.cluster))
        return self.observed.with_objects((*found, *self.lists.get("ReplicaSet", ()), *self.lists.get("Event", ())))

    @cached_property
    def live_and_all_claims(self) -> Observed:
        """The same and, if a decision has asked for them, all PVCs of the namespace: users can remove their labels."""
        return self.live.with_objects(self.lists.get("PersistentVolumeClaim", ()))

    @cached_property
    def admitted(self) -> Mapping[ObjectKey, Manifest]:
        """What admission makes of the objects that seem to need a recreation."""
        found = ((key, verdict.after) for key, verdict in (self.recreations or {}).items())
        return {key: after for key, after in found if after is not None}

    def missing_answers(self, *questions: Question[Any]) -> AskDruid | None:
        """Return the need for the answers of Druid to these questions; None if `druid` has all of them."""
        missing = (self.druid or DruidState()).missing_answers(questions)
        return AskDruid(missing) if missing else None


@dataclass(frozen=True)
class Get(Need):
    """Objects by name; a missing one is not in the result."""

    keys: tuple[ObjectKey, ...]


@dataclass(frozen=True)
class List(Need):
    """All objects of a kind in the namespace that match the selectors."""

    kind: str
    label_selector: str = ""
    field_selector: str = ""


@dataclass(frozen=True)
class GetResource(Need):
    """The resource, as it is now."""


@dataclass(frozen=True)
class GetStorageClasses(Need):
    """Storage classes by name."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class DryRunPatches(Need):
    """The rejections of the API server of these steps, which patch an object."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class DryRun(Need):
    """The verdicts of the API server on these steps."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class AskDruid(Need):
    """The answers of Druid to these questions, or why there are none."""

    questions: tuple[Question[Any], ...]


@dataclass(frozen=True)
class LetOthersGrow(Need):
    """A decision in which the volumes of other groups do not wait for those of this one, with dry runs of its own."""

    group: str


@dataclass(frozen=True)
class DryRunTemplates(Need):
    """The verdicts of the API server on these steps, before it is decided how workloads are written."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class DryRunRecreations(Need):
    """The verdicts of the API server on these steps, before it is decided what is recreated."""

    steps: tuple[Step, ...]
