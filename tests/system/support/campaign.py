# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What only `make campaign` runs, because it is exhaustive and takes its time."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest


def campaign(shown_by: str) -> pytest.MarkDecorator:
    """Leave a test, or one of its parameters, to `make campaign`.

    ``shown_by``: what of it `make test` shows all the same. docs/testing.md has a table of these.
    """
    return pytest.mark.campaign(shown_by=shown_by)


def only_first(number: int, values: Iterable[Any], shown_by: str) -> list[Any]:
    """Return the values of a parameter; those after the first ones are left to `make campaign`."""
    # of a named tuple, the fields are no values of several parameters
    found = [each if isinstance(each, tuple) and not hasattr(each, "_fields") else (each,) for each in values]
    rest = (pytest.param(*each, marks=campaign(shown_by)) for each in found[number:])
    return [*(pytest.param(*each) for each in found[:number]), *rest]


SEED = int(os.environ.get("DRUIDOPS_SEED") or 1)
# More requests than any reconcile sends.
MANY = 100
# The campaign takes each third request. Its seed decides which one is the first: three successive seeds take all.
THIRDS = range(1 + SEED % 3, MANY, 3)

# After which request each attempt of a test is killed, until one needs fewer.
STEPS = [
    pytest.param(range(1, MANY, 11), id="after each eleventh request"),
    pytest.param(THIRDS, id="after each third request", marks=campaign("the same after each eleventh request")),
]

# The cores of tests that run ansible-playbook on both.
EACH_CORE = [
    pytest.param("2.18", marks=campaign("the same on the newest ansible-core, and the operator on the oldest")),
    "2.19",
]
