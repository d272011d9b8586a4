# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run may do and keep.

ansible-operator passes the strings of a resource to Ansible as variables, and its annotations set how much is logged
and kept. The playbooks only need the name of the resource, and its author is not an administrator.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    # these imports take 10 ms
    from collections.abc import Callable
    from typing import Any

NAME = "ansible-runner"
# The variables that a run keeps: the name of the resource, and variables of watches.yaml with this prefix.
META = "ansible_operator_meta"
OURS = "druidops_"
# The one that names the kind, of a playbook for several kinds.
KIND = "druidops_kind"
# Number of runs per resource with kept artifacts. With fewer, ansible-runner fails on the operator's link `latest`.
MIN_ARTIFACTS = 6
MAX_ARTIFACTS = 20
# Maximum duration of a run in seconds: a hanging run would block one of the operator's workers indefinitely.
MAX_RUN_SECONDS = 900
# The file of the runs that have been attempted while none has reached its action, which removes it; at most so long.
PENDING = "DRUIDOPS_PENDING_RUN"
MAX_BYTES = 1 << 16
# ansible-operator keeps the files of each resource below this directory, also of deleted ones. They are removed
# after that time in seconds without a run, or after two periods; at most so many resources at a time, and that often.
RUNS = os.path.join("ansible-operator", "runner")
UNUSED_SECONDS = 1800
MAX_REMOVED = 100
SWEEP_SECONDS = 60
_ROTATE = "--rotate-artifacts"
_VERBOSE = re.compile("-v+")
_NUMBER = re.compile("[+-]?[0-9]+")
# A Go duration, and the seconds of each of its units.
_DURATION = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_CANNOT_RUN = 2


def restrict(arguments: list[str], environment: dict[str, str], now: float) -> list[str]:
    """Restrict the requested run: its files, and the arguments, which are returned. SystemExit if nothing may run."""
    directory = arguments[1]
    _rewrite(directory, "extravars", allowed_variables)
    timeout = {"job_timeout": max_run_seconds(environment)}
    _rewrite(directory, "settings", lambda document: {**document, **timeout})
    record_attempt(environment.get(PENDING, ""), directory, now)
    sweep(directory, unused_seconds(environment), now)
    return limit_arguments(arguments, max_verbosity(directory, environment))


def limit_arguments(arguments: list[str], verbosity: int) -> list[str]:
    """The arguments with limited verbosity and a number of artifacts within the limits; all others are unchanged."""
    found = []
    for before, argument in zip(["", *arguments], arguments, strict=False):
        if before == _ROTATE:
            found.append(_artifacts(argument))
        elif argument.startswith(f"{_ROTATE}="):
            found.append(f"{_ROTATE}={_artifacts(argument.partition('=')[2])}")
        elif not _VERBOSE.fullmatch(argument):
            found.append(argument)
        elif verbosity > 0:
            found.append(argument[: 1 + verbosity])
    return found


def _artifacts(number: str) -> str:
    """A number within the limits; 0 and less mean no limit. Invalid numbers are left for ansible-runner to reject."""
    if not _NUMBER.fullmatch(number):
        return number
    asked = int(number) if int(number) > 0 else MAX_ARTIFACTS
    return str(min(max(asked, MIN_ARTIFACTS), MAX_ARTIFACTS))


def max_verbosity(directory: str, environment: dict[str, str]) -> int:
    """The maximum verbosity of the runs of a kind: the value of ansible-operator's own variable, 0 if it is not set."""
    group, kind, _namespace, _name = parts_of(directory)
    value = environment.get(f"ANSIBLE_VERBOSITY_{kind}_{group}".replace(".", "_").upper(), "")
    return int(value) if value.isdecimal() else 0


def record_attempt(file: str, directory: str, now: float) -> None:
    """Append the time and the resource for the readiness probe; a full file only gets the time of the last attempt."""
    with suppress(OSError):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(descriptor).st_size < MAX_BYTES:
                os.write(descriptor, os.fsencode(f"{now:.0f} {directory}\n"))
            os.utime(descriptor, (now, now))
        finally:
            os.close(descriptor)


def unused_seconds(environment: dict[str, str]) -> float:
    """How long a resource may be without a run: longer than its period, and than any run."""
    return max(UNUSED_SECONDS, 2 * seconds(environment.get("RECONCILE_WAIT", "")), 2 * max_run_seconds(environment))


def sweep(directory: str, unused: float, now: float) -> None:
    """Remove the files of resources without a run in that time; the directory is that of the resource of this run."""
    root = os.path.abspath(os.path.join(directory, *[os.pardir] * 5))
    if not root.endswith(f"{os.sep}{RUNS}") or not _is_due(os.path.join(root, ".swept"), now):
        return
    # these imports take 10 ms
    import glob
    import shutil

    left = MAX_REMOVED
    for resource in glob.iglob(f"{glob.escape(root)}/*/*/*/*/*"):
        # another run may remove it, and a namespace may have other resources
        with suppress(OSError):
            if left and now - _last_run(resource) > unused:
                left -= 1
                shutil.rmtree(resource, ignore_errors=True)
                os.rmdir(os.path.dirname(resource))


def _last_run(resource: str) -> float:
    """The time of the last run of a resource; if its removal was interrupted, that of its last removed file."""
    with suppress(FileNotFoundError):
        return os.stat(os.path.join(resource, "env", "extravars")).st_mtime
    return os.stat(resource).st_mtime


def _is_due(stamp: str, now: float) -> bool:
    """True once per period; one of several runs at the same time may be a second one, which is harmless."""
    with suppress(OSError):
        if now - os.stat(stamp).st_mtime < SWEEP_SECONDS:
            return False
    with suppress(OSError):
        os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT, 0o600))
        os.utime(stamp, (now, now))
        return True
    return False


def parts_of(directory: str) -> tuple[str, str, str, str]:
    """Group, kind, namespace and name of the resource: the directory ends in GROUP/VERSION/KIND/NAMESPACE/NAME."""
    parts = [*[""] * 5, *directory.rstrip("/").split("/")]
    return parts[-5], parts[-3], parts[-2], parts[-1]


def max_run_seconds(environment: dict[str, str]) -> int:
    """The maximum duration of a run that the administrator sets, in seconds or as a Go duration."""
    return int(duration(environment.get("DRUIDOPS_RUN_TIMEOUT", ""), MAX_RUN_SECONDS)) or MAX_RUN_SECONDS


def duration(value: str, default: int) -> float:
    """The seconds of an administrator's duration, in seconds or as a Go duration; ``default`` if it is invalid."""
    if value.isdecimal():
        return int(value)
    return seconds(value) if "".join(_DURATION.findall(value)) == value != "" else default


def _rewrite(directory: str, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Apply a change to one of ansible-operator's files, which stay on the disk."""
    file = os.path.join(directory, "env", name)
    try:
        with open(file, encoding="utf-8") as stream:
            found = change(json.load(stream))
        with open(file, "w", encoding="utf-8") as stream:
            json.dump(found, stream)
    except (OSError, ValueError, RecursionError) as error:
        raise _refused(f"{file}: the run's {name} cannot be read: {error}. Nothing was run", _CANNOT_RUN) from error


def allowed_variables(variables: dict[str, Any]) -> dict[str, Any]:
    """The variables without those of the resource."""
    return {name: value for name, value in variables.items() if name == META or name.startswith(OURS)}


def seconds(duration: str) -> float:
    """The seconds of a Go duration; 0 for an invalid one, with which ansible-operator runs nothing."""
    parts = _DURATION.findall(duration)
    if "".join(parts) != duration.removeprefix("+"):
        return 0
    return sum(float(part.rstrip("nuµμmsh")) * _UNITS[part.lstrip("0123456789.")] for part in parts)


def _refused(message: str, status: int) -> SystemExit:
    sys.stderr.write(f"{NAME}: {message}\n")
    return SystemExit(status)
