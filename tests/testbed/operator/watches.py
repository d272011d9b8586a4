# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""watches.yaml: which playbook is run for which kind. Only our own keys are supported; anything else is an error."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .go_duration import seconds
from .kinds import Kind
from .settings import Settings

# Other values of these are not supported.
_FIXED = {"manageStatus": False, "snakeCaseParameters": False, "markUnsafe": True, "watchAnnotationsChanges": True}


class WatchesError(ValueError):
    """The file is not one that the program would start with."""


@dataclass(frozen=True)
class Finalizer:
    """What is run before an object is deleted."""

    name: str
    playbook: Path


@dataclass(frozen=True)
class Watch:
    """One entry; the period is in seconds."""

    kind: Kind
    playbook: Path
    finalizer: Finalizer | None
    vars: Mapping[str, Any]
    max_runner_artifacts: int
    reconcile_period: float
    workers: int
    verbosity: int


def load(text: str, environment: Mapping[str, str], flags: Settings) -> list[Watch]:
    """The watches of a file's content, in which ${NAME} is the variable of the environment; WatchesError."""
    entries = yaml.safe_load(string.Template(text).safe_substitute(environment))
    return [_watch(dict(entry), flags) for entry in entries]


def _watch(entry: dict[str, Any], flags: Settings) -> Watch:
    kind = Kind(entry.pop("group"), entry.pop("version"), entry.pop("kind"))
    finalizer = entry.pop("finalizer", None)
    for key, value in _FIXED.items():
        if entry.pop(key, None) is not value:
            raise WatchesError(f"{kind}: this stand-in needs {key}: {str(value).lower()}")
    watch = Watch(
        kind=kind,
        playbook=_playbook(entry.pop("playbook")),
        finalizer=Finalizer(finalizer["name"], _playbook(finalizer["playbook"])) if finalizer else None,
        vars=entry.pop("vars", {}),
        max_runner_artifacts=entry.pop("maxRunnerArtifacts", 20),
        reconcile_period=seconds(entry.pop("reconcilePeriod")),
        workers=flags.workers,
        verbosity=flags.verbosity,
    )
    if entry:
        raise WatchesError(f"{kind}: this stand-in does not know {', '.join(entry)}")
    return watch


def _playbook(name: str) -> Path:
    playbook = Path(name).absolute()
    if not playbook.exists():
        raise WatchesError(f"playbook: {playbook} was not found")
    return playbook
