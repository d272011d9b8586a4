# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each release of Druid is made of."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.testbed.druid.versions import (
    BASIC_SECURITY,
    DEFAULT,
    KAFKA,
    KNOWN,
    MSQ,
    version,
)


def test_default_ingests_from_kafka() -> None:
    assert version().release == DEFAULT
    assert KAFKA in version().extensions


def test_one_of_the_known_has_basic_security_and_sql_ingestion() -> None:
    assert any({BASIC_SECURITY, MSQ} <= {*each.extensions} for each in KNOWN.values())


@pytest.mark.parametrize(("name", "msq"), [("28.0.0", True), ("34.0.0", True), ("35.0.0", False), ("37.0.1", False)])
def test_any_other_release_has_all_existing_extensions(name: str, msq: bool) -> None:
    found = version(name)
    assert (found.release, found.replaced) == (name, ())
    assert {KAFKA, BASIC_SECURITY} <= {*found.extensions}
    assert (MSQ in found.extensions) is msq


@pytest.mark.parametrize("name", ["33", "newest", "", "v33.0.0", "33.0.0-SNAPSHOT", "33.0.0\n"])
def test_rejects_an_invalid_release(name: str) -> None:
    with pytest.raises(ValueError, match=r"is no release; name one like 33\.0\.0"):
        version(name)
