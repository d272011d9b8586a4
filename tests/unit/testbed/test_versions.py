# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The versions of Kubernetes that the test bed knows."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.testbed.versions import SUPPORTED, version


@pytest.mark.parametrize(
    ("name", "minor"),
    [
        ("1.34", "1.34"),
        ("v1.34", "1.34"),
        ("oldest", "1.30"),
        ("newest", "1.36"),
        ("default", "1.34"),
    ],
)
def test_version_goes_by_several_names(name: str, minor: str) -> None:
    assert version(name).minor == minor


@pytest.mark.parametrize("name", ["1.2", "latest", "", "1.34.4"])
def test_unsupported_version_is_rejected_with_the_choices(name: str) -> None:
    with pytest.raises(ValueError, match=r"is not supported; choose one of 1\.30, 1\.34, 1\.36, oldest, newest"):
        version(name)


@pytest.mark.parametrize("minor", SUPPORTED)
def test_release_is_a_patch_of_the_minor_version(minor: str) -> None:
    assert version(minor).release.startswith(f"v{minor}.")


def test_kwok_is_separate_if_it_does_not_compile_with_the_version() -> None:
    assert [minor for minor in SUPPORTED if not version(minor).includes_kwok] == ["1.30"]
