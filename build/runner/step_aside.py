# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of a deletion whose turn has not come only asks ansible-operator to be repeated then.

The turns are in a file beside the resident process. Without it nothing is lost: deletions get other turns.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from . import in_process, restrictions, turns, without_playbook
from .client import DIRECTORY

_FILE = "deletions"
_ENCODING = "utf-8"


class Deletion(NamedTuple):
    """A run for a terminating resource: its uid, group and kind, and ansible-operator's address for events."""

    uid: str
    group: str
    kind: str
    address: without_playbook.Address


def deletion(directory: str) -> Deletion | None:
    """The deletion that this run is for, None if the resource is not terminating; before the run is restricted."""
    group, kind = restrictions.kind_of(directory)
    try:
        variables = without_playbook.read(directory, "extravars")
        metadata = restrictions.resource_of(variables, group, kind)["metadata"]
        if "deletionTimestamp" not in metadata:
            return None
        address = without_playbook.address(directory)
        return Deletion(str(restrictions.plain(metadata["uid"])), group, kind, address)
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        # a run without any of these is not one of a deletion, or is refused
        return None


def run(options: in_process.Options, found: Deletion) -> int:
    """Run the playbook in its turn; otherwise request that ansible-operator repeats the run then."""
    begin, file = time.monotonic(), _file(found)
    try:
        with _locked(file) as before:
            answer = turns.ask(before.turns, found.uid, begin, _workers(found))
            before.turns = answer.turns
    except OSError as error:
        sys.stderr.write(f"ansible-runner: {file}: {error}\n")
        return in_process.run(options)
    if answer.wait:
        return _postpone(options, found, answer.wait)
    status = in_process.run(options)
    if answer.is_first:
        with suppress(OSError), _locked(file) as after:
            after.turns = turns.ended(after.turns, time.monotonic() - begin)
    return status


def _workers(found: Deletion) -> int:
    return turns.workers(found.group, found.kind, os.environ, len(os.sched_getaffinity(0)))


def _file(found: Deletion) -> str:
    """Each kind has its own queue. The directory is only this user's."""
    return os.path.join(os.environ[DIRECTORY], f"{_FILE}-{found.kind}.{found.group}".lower())


class _State:
    """The turns in the file while it is locked; they are written at the end."""

    def __init__(self, text: str) -> None:
        self.turns = turns.from_json(text)


@contextmanager
def _locked(file: str) -> Iterator[_State]:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "r+", encoding=_ENCODING) as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        state = _State(stream.read())
        yield state
        stream.seek(0)
        stream.truncate()
        stream.write(json.dumps(state.turns))


def _postpone(options: in_process.Options, found: Deletion, seconds: float) -> int:
    """End the run with the event of requeue_after."""
    event = without_playbook.requeue(f"{seconds:.3f}s", "Wait for the turn of this deletion")
    return without_playbook.end(options, found.address, event)
