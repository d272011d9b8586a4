# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the command line that is about Druid."""

from __future__ import annotations

import argparse
import os
import select
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from ..progress import say
from .configurations import CONFIGURATIONS
from .druid import Druid, DruidError
from .versions import DEFAULT


def add_commands(commands: Any) -> None:
    """Add the commands below the command druid."""
    druid = commands.add_parser("druid", help="Druid and Kafka", description="A Druid with its Kafka.")
    below = druid.add_subparsers(required=True)
    for name, run in (("up", _up), ("keep", _keep), ("down", _down), ("status", _status)):
        command = below.add_parser(name, help=run.__doc__, description=run.__doc__)
        command.set_defaults(run=run)
        command.add_argument("--dir", type=Path, required=True, help="where Druid has its files")
        if run in (_up, _keep):
            command.add_argument("--version", default=DEFAULT, help=f"a release such as {DEFAULT}")
            command.add_argument("--configuration", choices=list(CONFIGURATIONS), default="open")
            command.add_argument("--while", type=int, dest="pid", metavar="PID", help="stop when this process ends")


def _up(arguments: argparse.Namespace) -> int:
    """Start a Druid that runs until it is taken down, or until another process ends."""
    druid = Druid.find(arguments.dir)
    if druid is None:
        druid = _started(arguments)
    elif (druid.version, druid.configuration.name) != (arguments.version, arguments.configuration):
        running = f"Druid {druid.version} ({druid.configuration.name})"
        raise DruidError(f"{running} already runs in {arguments.dir}; take it down first")
    else:
        say("already running")
    print("\n".join(druid.describe()))
    return 0


def _started(arguments: argparse.Namespace) -> Druid:
    if arguments.pid is None:
        return Druid.start(arguments.dir, arguments.version, arguments.configuration, detached=True)
    what = ["--dir", arguments.dir, "--version", arguments.version, "--configuration", arguments.configuration]
    log = Path(f"{arguments.dir}.log")
    with log.open("wb") as errors:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "testbed", "druid", "keep", *what, "--while", str(arguments.pid)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            # what interrupts the other process ends it, and that is what the keeper waits for
            start_new_session=True,
        )
    # it prints a line when it is ready, and none if it fails
    if keeper.stdout is not None and keeper.stdout.readline() and (druid := Druid.find(arguments.dir)):
        return druid
    raise DruidError(log.read_text().strip())


def _keep(arguments: argparse.Namespace) -> int:
    """Run a Druid until another process ends, however that ends."""
    watcher = threading.Thread(target=_end_with, args=(os.pidfd_open(arguments.pid),), daemon=True)
    watcher.start()
    Druid.start(arguments.dir, arguments.version, arguments.configuration)
    print("ready", flush=True)
    watcher.join()
    return 0


def _end_with(other: int) -> None:
    """End this process, even in the middle of a start, when the other has ended; the kernel takes the JVM along."""
    # readable once it has ended, and it need not be a child
    select.select([other], [], [])
    os._exit(0)


def _down(arguments: argparse.Namespace) -> int:
    """Stop a Druid and take its files away."""
    say("stopped" if Druid.remove(arguments.dir) else "nothing runs there")
    return 0


def _status(arguments: argparse.Namespace) -> int:
    """Print the running servers; the exit status is 1 if it is not a complete Druid."""
    druid = Druid.find(arguments.dir)
    print("not running" if druid is None else "\n".join(druid.describe()))
    return int(druid is None)
