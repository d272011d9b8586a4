# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of the test bed."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import Any

from .api import ApiError
from .control_plane import ControlPlane, ControlPlaneError
from .progress import say
from .versions import DEFAULT, version

# RuntimeError: each part of the test bed has its own subclass.
_ERRORS = (ApiError, RuntimeError, ValueError)


def main() -> int:
    """Run one command; the exit status."""
    if sys.argv[1:2] == ["operator"]:
        return _operator(sys.argv[2:])
    arguments = _parser().parse_args()
    # like an interruption: what has been started so far is stopped
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return int(arguments.run(arguments))
    except _ERRORS as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="testbed", description="A Kubernetes control plane with simulated kubelets; a Druid."
    )
    commands = parser.add_subparsers(required=True)
    for name, run in (("up", _up), ("down", _down), ("status", _status)):
        command = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        command.set_defaults(run=run)
        command.add_argument("--dir", type=Path, required=True, help="where the control plane has its files")
        if run is _up:
            command.add_argument("--kubernetes", default=DEFAULT, help="1.30, 1.34, 1.36, oldest or newest")
            command.add_argument("--crd", type=Path, nargs="*", default=[], help="files of CRDs to install")
            command.add_argument("--node", action="store_true", help="with a real node, whose pods are containers")
    _add_druid(commands)
    commands.add_parser("operator", help="the stand-in for ansible-operator", add_help=False)
    return parser


def _add_druid(commands: Any) -> None:
    """Add the commands for Druid, which do not require the dependencies of a control plane."""
    if sys.argv[1:2] == ["druid"]:
        from .druid.commands import add_commands

        add_commands(commands)
    else:
        commands.add_parser("druid", help="Druid and Kafka")


def _operator(arguments: list[str]) -> int:
    """Run the stand-in, whose command line is that of operator-sdk's program."""
    from .operator.program import main as operate

    return operate(arguments)


def _up(arguments: argparse.Namespace) -> int:
    """Start a control plane that runs until it is taken down."""
    plane = ControlPlane.find(arguments.dir)
    if plane is None:
        plane = ControlPlane.start(
            arguments.dir, arguments.kubernetes, arguments.crd, detached=True, node=arguments.node
        )
    elif plane.kubernetes != version(arguments.kubernetes):
        raise ControlPlaneError(
            f"Kubernetes {plane.kubernetes.minor} already runs in {arguments.dir}; take it down first"
        )
    elif plane.has_node != arguments.node:
        kind = "with" if plane.has_node else "without"
        raise ControlPlaneError(f"one {kind} a real node already runs in {arguments.dir}; take it down first")
    else:
        say("already running")
    print("\n".join(plane.describe()))
    return 0


def _down(arguments: argparse.Namespace) -> int:
    """Stop a control plane and take its files away."""
    say("stopped" if ControlPlane.remove(arguments.dir) else "nothing runs there")
    return 0


def _status(arguments: argparse.Namespace) -> int:
    """Print the running components; the exit status is 1 if it is not a complete control plane."""
    plane = ControlPlane.find(arguments.dir)
    print("not running" if plane is None else "\n".join(plane.describe()))
    return int(plane is None)


sys.exit(main())
