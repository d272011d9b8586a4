# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The flags of `ansible-operator run`, and what it reads from the environment."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .go_duration import seconds

PROXY_PORT = 8888
# Where the runs post their metrics.
METRICS_PORT = 5050


@dataclass(frozen=True)
class Election:
    """How one of several replicas is chosen; times in seconds."""

    id: str
    namespace: str
    lease_duration: float
    renew_deadline: float


@dataclass(frozen=True)
class Settings:
    """What the program was told; times in seconds, an address None is not listened on, no namespaces are all."""

    watches_file: Path
    namespaces: tuple[str, ...]
    reconcile_period: float
    max_concurrent_reconciles: int
    ansible_verbosity: int
    ansible_args: str
    ansible_log_events: str
    inject_owner_ref: bool
    proxy_port: int
    probe_address: tuple[str, int] | None
    metrics_address: tuple[str, int] | None
    graceful_shutdown_timeout: float
    election: Election | None


def settings(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """The settings; SystemExit for a command line that the real program would not take."""
    given = _parser().parse_args(arguments)
    election = Election(
        given.leader_election_id or environment.get("OPERATOR_NAME", ""),
        given.leader_election_namespace,
        given.leader_elect_lease_duration,
        given.leader_elect_renew_deadline,
    )
    if given.leader_elect and not (election.id and election.namespace):
        raise SystemExit(
            "leader election needs --leader-election-id and, out of a cluster, --leader-election-namespace"
        )
    return Settings(
        watches_file=given.watches_file,
        namespaces=tuple(filter(None, map(str.strip, environment.get("WATCH_NAMESPACE", "").split(",")))),
        reconcile_period=given.reconcile_period,
        max_concurrent_reconciles=given.max_concurrent_reconciles,
        ansible_verbosity=given.ansible_verbosity,
        ansible_args=_unquoted(given.ansible_args),
        ansible_log_events=given.ansible_log_events.lower(),
        inject_owner_ref=given.inject_owner_ref,
        proxy_port=given.proxy_port,
        probe_address=_address(given.health_probe_bind_address),
        metrics_address=_address(given.metrics_bind_address),
        graceful_shutdown_timeout=given.graceful_shutdown_timeout,
        election=election if given.leader_elect else None,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ansible-operator run", allow_abbrev=False)
    parser.add_argument("command", choices=["run"])
    for flag, (convert, default) in _FLAGS.items():
        more: dict[str, Any] = {"nargs": "?", "const": True} if convert is _boolean else {}
        parser.add_argument(f"--{flag}", type=convert, default=default, **more)
    return parser


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_FLAGS: dict[str, tuple[Any, Any]] = {
    "watches-file": (Path, Path("watches.yaml")),
    "inject-owner-ref": (_boolean, True),
    "ansible-verbosity": (int, 2),
    "ansible-args": (str, ""),
    "ansible-log-events": (str, "tasks"),
    "reconcile-period": (seconds, 36000.0),
    "max-concurrent-reconciles": (int, os.cpu_count()),
    "graceful-shutdown-timeout": (seconds, 30.0),
    "health-probe-bind-address": (str, ":6789"),
    "proxy-port": (int, PROXY_PORT),
    "leader-elect": (_boolean, False),
    "leader-election-id": (str, ""),
    "leader-election-namespace": (str, ""),
    "leader-elect-lease-duration": (seconds, 15.0),
    "leader-elect-renew-deadline": (seconds, 10.0),
    "metrics-bind-address": (str, ":8443"),
    # taken, and without effect: the stand-in has no TLS, and one way to log
    "metrics-secure": (_boolean, False),
    "metrics-require-rbac": (_boolean, False),
    "enable-http2": (_boolean, False),
    "zap-devel": (_boolean, False),
    "zap-encoder": (str, ""),
    "zap-log-level": (str, ""),
    "zap-stacktrace-level": (str, ""),
    "zap-time-encoding": (str, ""),
}


def _unquoted(text: str) -> str:
    """Without the single quotes around the whole."""
    return text[1:-1] if text.startswith("'") and text.endswith("'") else text


def _address(text: str) -> tuple[str, int] | None:
    host, _colon, port = text.rpartition(":")
    return None if text in ("", "0") else (host, int(port))
