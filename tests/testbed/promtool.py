# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prometheus' own tool: it lints metrics, and evaluates rules and queries on data that are written down."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .build import build_tool

_MODULE = Path(__file__).parent / "prometheus_programs"
# What finds targets in clouds: three quarters of the program.
_WITHOUT = ("remove_all_sd",)


class PromtoolError(AssertionError):
    """What promtool has found wrong."""


def program() -> Path:
    """The program promtool."""
    return build_tool("promtool", _MODULE, "github.com/prometheus/prometheus/cmd/promtool", minutes=4, tags=_WITHOUT)


def promtool(*arguments: str, text: str = "") -> str:
    """Its output for a command, with the text as input; a PromtoolError if it fails."""
    done = subprocess.run([program(), *arguments], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PromtoolError(f"promtool {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout
