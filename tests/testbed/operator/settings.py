# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The flags of `ansible-operator run`, and what it reads from the environment; times are in seconds."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .go_duration import seconds

PROXY_PORT = 8888
# where runs post their metrics
METRICS_PORT = 5050


@dataclass(frozen=True)
class Election:
    """How the leader among several replicas is elected."""

    id: str
    namespace: str
    lease_duration: float
    renew_deadline: float


@dataclass(frozen=True)
class Settings:
    """What the program is started with; an address None is not listened on, no namespaces are all of them."""

    watches_file: Path
    namespaces: tuple[str, ...]
    workers: int
    verbosity: int
    probe_address: tuple[str, int] | None
    metrics_address: tuple[str, int] | None
    graceful_shutdown_timeout: float
    election: Election | None
    log_level: str = "INFO"


def settings(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """The settings; SystemExit for a command line that is not accepted."""
    provided = _parser().parse_args(arguments)
    election = Election(
        provided.leader_election_id,
        provided.leader_election_namespace,
        provided.leader_elect_lease_duration,
        provided.leader_elect_renew_deadline,
    )
    return Settings(
        watches_file=provided.watches_file,
        namespaces=tuple(filter(None, map(str.strip, environment.get("WATCH_NAMESPACE", "").split(",")))),
        workers=provided.max_concurrent_reconciles,
        verbosity=provided.ansible_verbosity,
        probe_address=_address(provided.health_probe_bind_address),
        metrics_address=_address(provided.metrics_bind_address),
        graceful_shutdown_timeout=provided.graceful_shutdown_timeout,
        election=election if provided.leader_elect else None,
        log_level=provided.zap_log_level.upper(),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ansible-operator run", allow_abbrev=False)
    parser.add_argument("command", choices=["run"])
    parser.add_argument("--leader-elect", action="store_true")
    for flag, convert, default in (
        ("watches-file", Path, Path("watches.yaml")),
        ("ansible-verbosity", int, 2),
        ("max-concurrent-reconciles", int, os.cpu_count()),
        ("graceful-shutdown-timeout", seconds, 30.0),
        ("health-probe-bind-address", str, ":6789"),
        ("metrics-bind-address", str, ":8443"),
        ("leader-election-id", str, ""),
        ("leader-election-namespace", str, ""),
        ("leader-elect-lease-duration", seconds, 15.0),
        ("leader-elect-renew-deadline", seconds, 10.0),
        ("zap-log-level", str, "info"),
        # accepted, and without effect
        ("ansible-log-events", str, "tasks"),
        ("zap-stacktrace-level", str, "error"),
    ):
        parser.add_argument(f"--{flag}", type=convert, default=default)
    return parser


def _address(text: str) -> tuple[str, int] | None:
    host, _colon, port = text.rpartition(":")
    return None if text in ("", "0") else (host, int(port))
