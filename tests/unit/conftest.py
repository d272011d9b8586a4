# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Settings of hypothesis for all unit tests.

The same examples in every run; `--hypothesis-profile=campaign` searches for new ones, and `--hypothesis-seed` repeats
such a search. What a search finds is pinned with ``@example``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

# A property is true or false. The duration of an example on a busy machine is irrelevant.
_ALWAYS: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("test", derandomize=True, max_examples=50, **_ALWAYS)
settings.register_profile("campaign", max_examples=500, print_blob=True, **_ALWAYS)
settings.load_profile("test")
# ansible-test has no PYTHONPATH; the tools import the test bed.
sys.path.append(str(Path(__file__).parents[1]))
