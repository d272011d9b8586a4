# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""While a library is imported, and afterwards, nobody looks through what it consists of."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.gc import without_gc


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """The collector as it was."""
    is_enabled = gc.isenabled()
    yield
    gc.unfreeze()
    (gc.enable if is_enabled else gc.disable)()


def test_what_is_there_by_then_is_never_looked_at_again() -> None:
    gc.enable()
    with without_gc():
        assert not gc.isenabled()
        imported = ["what is imported"]
    assert gc.isenabled()
    assert not any(each is imported for each in gc.get_objects())


def test_what_comes_later_is_collected() -> None:
    with without_gc():
        pass
    later = ["what comes later"]
    assert any(each is later for each in gc.get_objects())


def test_an_import_that_fails_leaves_the_collector_as_it_was() -> None:
    gc.enable()
    with pytest.raises(ImportError), without_gc():
        raise ImportError
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    with without_gc():
        pass
    assert not gc.isenabled()
