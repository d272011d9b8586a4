# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs whose labels were removed: controllers find them by name or owner, and delete them nevertheless."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.effects import CLAIM, may_delete_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import List
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def claims_without_labels(draft: Draft) -> tuple[Finding, ...] | List:
    """Return the need for all PVCs of the namespace if some may be deleted, so that the plan names each of them."""
    if CLAIM in draft.inputs.lists or not may_delete_claims(draft.steps, draft.inputs.live):
        return ()
    return List(CLAIM)
