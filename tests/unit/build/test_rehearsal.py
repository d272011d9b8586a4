# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reconcile of a sample before the resident process serves."""

from __future__ import annotations

from ansible_collections.druidops.druid.build.runner.rehearsal import rehearse
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import list_types, schema


def test_the_rehearsal_is_a_reconcile_with_nothing_to_do() -> None:
    """So it goes as far as most runs do: a difference would end it earlier, or a problem of the sample."""
    report = rehearse()
    assert (report.plan.titles, report.problems, report.warnings) == ([], (), ())


def test_what_is_loaded_once_is_loaded() -> None:
    rehearse()
    loaded = (schema.spec_of, list_types.shape_of)
    before = [each.cache_info().misses for each in loaded]
    rehearse()
    assert [each.cache_info().misses for each in loaded] == before
    assert all(before)
