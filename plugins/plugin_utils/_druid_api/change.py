# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes in Druid as data, which travel in a plan, and are carried out by ``calls``. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import marked
from ansible_collections.druidops.druid.plugins.module_utils._spec.diff import diff_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same

# The kinds of objects.
SUPERVISOR = "supervisor"
COMPACTION = "compaction"
RETENTION_RULES = "retention rules"
DYNAMIC_CONFIG = "dynamic configuration"


@dataclass(frozen=True)
class DruidChange:
    """Create, update or remove an object in Druid, or leave it as it is.

    `kind` and `id` identify the object, `what` names it in messages, such as ``supervisor pages``. `before` and `after`
    are its states, None if it does not exist. `desired` is what the resource specifies, which is merged into `before`.
    `warnings` are those for the user, from the comparison; `unknown` those about fields that Druid does not know.
    `memory` is what was learnt about the last write.
    """

    kind: str
    id: str
    what: str
    desired: Any
    before: Any
    after: Any
    warnings: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    memory: Any = field(default=None, compare=False, repr=False)

    @property
    def changed(self) -> bool:
        return not are_same(self.before, self.after)

    @property
    def title(self) -> str:
        verb = "create" if self.before is None else "remove" if self.after is None else "update"
        return f"{verb} {self.what}"

    @property
    def marked(self) -> tuple[Any, Any]:
        """Before and after for a diff, with their secrets marked."""
        before, after = diff_of(self.kind, self.before, self.after)
        return marked(before), marked(after)
