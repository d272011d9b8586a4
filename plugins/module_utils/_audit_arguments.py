# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options by which Druid's audit history is told who changes something, and why."""

from __future__ import annotations

from typing import Any

# Documented in the doc fragment druidops.druid.audit.
AUDIT: dict[str, dict[str, Any]] = {"author": {"type": "str"}, "comment": {"type": "str"}}
