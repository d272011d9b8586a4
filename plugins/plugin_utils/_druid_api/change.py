# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One write in Druid, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change, Resource
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked_pair


@dataclass(frozen=True)
class Converge:
    """Create, update or remove an object in Druid; `what` names it, such as ``supervisor pages``."""

    what: str
    resource: Resource
    change: Change

    @property
    def title(self) -> str:
        verb = "create" if self.change.before is None else "remove" if self.change.after is None else "update"
        return f"{verb} {self.what}"

    @property
    def masked(self) -> tuple[Any, Any]:
        """Before and after with masked secrets; a changed secret is still visible as a change."""
        return masked_pair(self.change.before, self.change.after)
