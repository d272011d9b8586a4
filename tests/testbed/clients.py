# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs for an installation: kubectl, with its kustomize, and Helm."""

from __future__ import annotations

from pathlib import Path

from .build import build_tool

_MODULE = Path(__file__).parent / "client_programs"


def kubectl() -> Path:
    """The program kubectl."""
    return build_tool("kubectl", _MODULE, minutes=4)


def helm() -> Path:
    """The program helm."""
    return build_tool("helm", _MODULE, "helm.sh/helm/v3/cmd/helm", minutes=4)
