# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a run would start as the resident process has: only then may it carry out the run."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .request import Request

# The variables of a run that may differ from those of the resident process: ansible-operator's, and those of a shell.
OF_RUNS = frozenset({b"K8S_AUTH_KUBECONFIG", b"KUBECONFIG", b"PWD", b"OLDPWD", b"SHLVL", b"_"})


def ordinary_reason(request: Request, environment: Mapping[bytes, bytes]) -> str:
    """Why the ordinary runner has to run instead, empty if there is no reason.

    Ansible has read its settings from the environment of the resident process.
    """
    names = {*request.environment, *environment} - OF_RUNS
    changed = sorted(os.fsdecode(each) for each in names if request.environment.get(each) != environment.get(each))
    if changed:
        return f"the environment differs from that of the resident process: {', '.join(changed)}"
    return "" if request.arguments[:1] == [b"run"] and len(request.arguments) > 1 else "the arguments are unknown"
