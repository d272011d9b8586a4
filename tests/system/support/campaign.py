# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What only `make campaign` runs, because it is exhaustive and takes its time."""

from __future__ import annotations

import pytest


def campaign(shown_by: str) -> pytest.MarkDecorator:
    """Leave a test, or one of its parameters, to `make campaign`.

    ``shown_by``: what of it `make test` shows all the same. docs/testing.md has a table of these.
    """
    return pytest.mark.campaign(shown_by=shown_by)


# How many requests further each next attempt of a test is killed.
STEPS = [
    pytest.param(5, id="after each fifth request"),
    pytest.param(1, id="after each request", marks=campaign("the same after each fifth request")),
]

# The cores of tests that run ansible-playbook on both.
EACH_CORE = [
    pytest.param("2.18", marks=campaign("the same on the newest ansible-core, and the operator on the oldest")),
    "2.19",
]
