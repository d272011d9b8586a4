# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Settings of hypothesis for all unit tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A property is true or false. How long an example takes on a busy machine says nothing about it.
settings.register_profile("druidops", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("druidops")
