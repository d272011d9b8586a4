# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An OpenTelemetry Collector with exactly the components of the pipeline of charts/druid-collector."""

from __future__ import annotations

from pathlib import Path

from .build import build_tool

_MODULE = Path(__file__).parent / "collector_program"
# Of what finds targets, only what the pipeline uses: the others, for clouds, would be a third of the program.
_ONLY_KUBERNETES = ("remove_all_sd", "enable_kubernetes_sd")


def program() -> Path:
    """The program of the collector."""
    return build_tool("collector", _MODULE, minutes=15, tags=_ONLY_KUBERNETES)
