# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""watches.yaml: which playbook is run for which kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .expand import expand
from .go_duration import seconds
from .kinds import Kind

# lower case, since the real program does not mind the case of keys
_DEFAULTS: dict[str, Any] = {
    "group": "",
    "version": "",
    "kind": "",
    "playbook": "",
    "role": "",
    "vars": {},
    "maxrunnerartifacts": 20,
    "reconcileperiod": "0s",
    "finalizer": None,
    "managestatus": True,
    "watchdependentresources": True,
    "watchclusterscopedresources": False,
    "snakecaseparameters": True,
    "watchannotationschanges": False,
    "markunsafe": False,
    "blacklist": [],
    "selector": {},
}
_MOST_VERBOSE = 7


class WatchesError(ValueError):
    """The file is not one that the program would start with."""


@dataclass(frozen=True)
class Finalizer:
    """What is run before an object goes; without a playbook the one of the watch, with these variables."""

    name: str
    playbook: Path | None
    vars: Mapping[str, Any]


@dataclass(frozen=True)
class Watch:
    """One entry; the period is in seconds, 0 stands for that of the flag."""

    kind: Kind
    playbook: Path
    vars: Mapping[str, Any]
    max_runner_artifacts: int
    reconcile_period: float
    finalizer: Finalizer | None
    watch_dependent_resources: bool
    watch_cluster_scoped_resources: bool
    snake_case_parameters: bool
    watch_annotations_changes: bool
    mark_unsafe: bool
    blacklist: frozenset[Kind]
    selector: Mapping[str, Any]
    max_concurrent_reconciles: int
    ansible_verbosity: int


def load(text: str, environment: Mapping[str, str], *, workers: int, verbosity: int) -> list[Watch]:
    """The watches of a file's content; paths are relative to the working directory.

    workers and verbosity are the flags', for which the environment may have other values for a kind. A WatchesError
    tells of what the real program, or this stand-in, refuses.
    """
    entries = yaml.safe_load(expand(text, environment)) or []
    watches = [_watch(entry, environment, workers, verbosity) for entry in entries]
    kinds = [watch.kind for watch in watches]
    if twice := [kind for kind in kinds if kinds.count(kind) > 1]:
        raise WatchesError(f"duplicate GVK: {twice[0]}")
    return watches


def _watch(entry: Mapping[str, Any], environment: Mapping[str, str], workers: int, verbosity: int) -> Watch:
    given = {key.lower(): value for key, value in entry.items() if value is not None}
    values = {key: given.get(key, default) for key, default in _DEFAULTS.items()}
    kind = Kind(values["group"], values["version"], values["kind"])
    if not kind.version or not kind.kind:
        raise WatchesError(f"invalid GVK: {kind}: version and kind must not be empty")
    if values["managestatus"]:
        raise WatchesError(f"{kind}: this stand-in does not manage the status; set manageStatus: false")
    return Watch(
        kind=kind,
        playbook=_playbook(values, str(kind)),
        vars=values["vars"],
        # 0 stands for the default
        max_runner_artifacts=values["maxrunnerartifacts"] or 20,
        reconcile_period=seconds(values["reconcileperiod"]),
        finalizer=values["finalizer"] and _finalizer(values["finalizer"], kind),
        watch_dependent_resources=values["watchdependentresources"],
        watch_cluster_scoped_resources=values["watchclusterscopedresources"],
        snake_case_parameters=values["snakecaseparameters"],
        watch_annotations_changes=values["watchannotationschanges"],
        mark_unsafe=values["markunsafe"],
        blacklist=frozenset(Kind(each.get("group", ""), each["version"], each["kind"]) for each in values["blacklist"]),
        selector=values["selector"],
        max_concurrent_reconciles=_workers(kind, environment, workers),
        ansible_verbosity=_verbosity(kind, environment, verbosity),
    )


def _playbook(values: Mapping[str, Any], what: str) -> Path:
    if not values.get("playbook"):
        role = "this stand-in runs playbooks only" if values.get("role") else "must specify Role or Playbook"
        raise WatchesError(f"{what}: {role}")
    playbook = Path(values["playbook"]).absolute()
    if not playbook.exists():
        raise WatchesError(f"{what}: playbook: {playbook} was not found")
    return playbook


def _finalizer(values: Mapping[str, Any], kind: Kind) -> Finalizer:
    if not values.get("name"):
        raise WatchesError(f"{kind}: finalizer must have name")
    variables = values.get("vars") or {}
    if variables and not values.get("playbook"):
        return Finalizer(values["name"], None, variables)
    return Finalizer(values["name"], _playbook(values, f"{kind}: finalizer"), variables)


def _workers(kind: Kind, environment: Mapping[str, str], default: int) -> int:
    old = _number(environment, f"WORKER_{_suffix(kind)}", default)
    chosen = _number(environment, f"MAX_CONCURRENT_RECONCILES_{_suffix(kind)}", old)
    return chosen if chosen > 0 else default


def _verbosity(kind: Kind, environment: Mapping[str, str], default: int) -> int:
    chosen = _number(environment, f"ANSIBLE_VERBOSITY_{_suffix(kind)}", default)
    return chosen if 0 <= chosen <= _MOST_VERBOSE else default


def _suffix(kind: Kind) -> str:
    return f"{kind.kind}_{kind.group}".replace(".", "_").upper()


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    """The variable's value; what is no number is as if it were not set."""
    try:
        return int(environment.get(name, default))
    except ValueError:
        return default
