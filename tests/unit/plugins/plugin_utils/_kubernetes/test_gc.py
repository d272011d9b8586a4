# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The garbage collector does not traverse the objects of imported libraries, during the import and afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.gc import without_gc


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Restore the state of the collector."""
    is_enabled = gc.isenabled()
    yield
    gc.unfreeze()
    (gc.enable if is_enabled else gc.disable)()


def test_imported_objects_are_frozen() -> None:
    gc.enable()
    with without_gc():
        assert not gc.isenabled()
        imported = ["imported"]
    assert gc.isenabled()
    assert not any(each is imported for each in gc.get_objects())


def test_later_objects_are_collected() -> None:
    with without_gc():
        pass
    later = ["later"]
    assert any(each is later for each in gc.get_objects())


def test_failed_import_restores_the_collector() -> None:
    gc.enable()
    with pytest.raises(ImportError), without_gc():
        raise ImportError
    assert gc.isenabled()


def test_disabled_collector_remains_disabled() -> None:
    gc.disable()
    with without_gc():
        pass
    assert not gc.isenabled()
