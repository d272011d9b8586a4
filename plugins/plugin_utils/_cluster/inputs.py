# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a decision is based on, as one value, and the reader of everything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import DruidState, Question
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads


@dataclass(frozen=True)
class Inputs:
    """The resource, its cluster, the live objects with its label, the rendered objects, and what the options allow.

    `reads` is for everything else. `schema_errors`: the spec cannot be read, and `cluster` has an empty one.
    `check_mode`: nothing will be written, and the resource may be the result of a dry run, with a generation that is
    not stored. `now` is the time of the reconcile. `blocked_expansions`: the groups for whose volumes no other group
    waits, as the decision so far has shown.
    """

    resource: Manifest
    cluster: Cluster
    observed: Observed
    desired: Desired
    reads: ClusterReads = field(compare=False)
    schema_errors: tuple[Finding, ...] = ()
    allowed_reference_namespaces: tuple[str, ...] = ()
    keep_finalizer: bool = False
    check_mode: bool = False
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    blocked_expansions: frozenset[str] = frozenset()

    @cached_property
    def with_all_claims(self) -> Observed:
        """The live objects with all PVCs of the namespace, if they count: users can remove their labels."""
        return self.observed.with_objects(self.reads.all_claims(self))

    @cached_property
    def admitted(self) -> Mapping[ObjectKey, Manifest]:
        """What admission makes of the objects that seem to need a recreation."""
        found = self.reads.recreations(self)
        return {verdict.step.key: verdict.after for verdict in found if verdict.after is not None}

    def with_objects(self, more: Iterable[Manifest]) -> Inputs:
        """Return the inputs with more live objects of the cluster."""
        return replace(self, observed=self.observed.with_objects(more))

    def ask(self, *questions: Question[Any]) -> DruidState:
        """Return all answers of Druid so far, including those to these questions, or why there are none."""
        return self.reads.ask_druid(self, questions)
