# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs for an installation: kubectl, with its kustomize, and Helm."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from .build import build, build_tool
from .versions import version


def kubectl() -> Path:
    """The program kubectl of the default version: the one of the control plane, by this name."""
    program = build(version()).kubernetes
    link = program.with_name(f"{program.name}-bin") / "kubectl"
    link.parent.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        link.symlink_to(program)
    return link


def helm() -> Path:
    """The program helm."""
    return build_tool("helm", Path(__file__).parent / "client_programs", "helm.sh/helm/v3/cmd/helm", minutes=4)
