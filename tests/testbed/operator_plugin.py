# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fixture for tests that need an operator: operator-sdk's program if it is on PATH, otherwise its stand-in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from .control_plane import ControlPlane
from .operator.events import socket_of
from .operator.started import Operator, Setting, only_one, which_networks, which_program
from .ports import reserved_ports


class StartOperator:
    """Starts operators that end with the test."""

    def __init__(self, plane: ControlPlane, directory: Path, stack: ExitStack) -> None:
        self._plane = plane
        self._directory = directory
        self._stack = stack
        self._count = 0
        self._has_ports = False

    def __call__(
        self,
        watches: Path | Sequence[Mapping[str, Any]],
        *,
        namespaces: Sequence[str] = (),
        environment: Mapping[str, str | None] | None = None,
        flags: Sequence[str] = (),
        user: str = "operator",
        kubeconfig: Path | None = None,
        programs: Sequence[Path] = (),
        is_replica: bool = False,
        start: bool = True,
    ) -> Operator:
        """An operator that runs with the credentials of the user, and is ready, unless it is not to be started yet.

        The arguments are those of Setting; the programs of DRUIDOPS_OPERATOR, a virtual environment, are always there.
        """
        if not is_replica and not self._has_ports:
            self._stack.enter_context(only_one())
            self._has_ports = True
        probe_port, proxy_port = self._stack.enter_context(reserved_ports(2))
        self._count += 1
        directory = self._directory / f"operator-{self._count}"
        directory.mkdir()
        setting = Setting(
            watches=watches,
            kubeconfig=kubeconfig or self._plane.kubeconfig(user),
            programs=[*programs, Path(os.environ["DRUIDOPS_OPERATOR"], "bin")],
            namespaces=namespaces,
            environment=environment or {},
            flags=flags,
            is_replica=is_replica,
        )
        operator = Operator(directory, setting, probe_port=probe_port, proxy_port=proxy_port)
        self._stack.callback(_remove_input, operator)
        self._stack.enter_context(operator)
        if start:
            operator.start()
        return operator


@pytest.fixture
def operator(control_plane: ControlPlane, tmp_path: Path) -> Iterator[StartOperator]:
    """Start an operator on the control plane: operator(watches, namespaces=[namespace], ...)."""
    with ExitStack() as stack:
        yield StartOperator(control_plane, tmp_path, stack)


def pytest_report_header() -> list[str]:
    """Which program the tests run as the operator, and where."""
    return [which_program(), which_networks()]


def _remove_input(operator: Operator) -> None:
    """Remove its files in /tmp."""
    for run in operator.runs:
        socket_of(run.ident).unlink(missing_ok=True)
        shutil.rmtree(run.directory, ignore_errors=True)
        # that of the namespace, which no other operator of the tests has; other tests may need those above
        with suppress(OSError):
            run.directory.parent.rmdir()
