# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a reconcile by the operator: its arguments, and what it has read if it depends on nothing else.

The operator's resident process (build/runner/repeated.py) runs a whole playbook otherwise, which would determine the
same arguments.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection_options import OPTIONS

# The environment variable with the file of the record. Without it, nothing is recorded.
FILE = "DRUIDOPS_RECORD"
# The operator sets none of these: they have secrets, or whole resources. The first one may be a path.
_NOT_RECORDED = (*(name for name in OPTIONS if name != "kubeconfig"), "proxy_headers", "resource", "spec")


class Reads(NamedTuple):
    """What a reconcile that changed nothing has read: until when by the monotonic clock, and its log line.

    ``headers`` are those of the reads from ``server``, the cache, which takes the resource's name from them; they
    contain no secret.
    """

    ended: float
    server: str
    readings: Mapping[str, str]
    headers: Mapping[str, str]
    entry: Mapping[str, Any]


class Record(NamedTuple):
    """A reconcile: the arguments of its task, and its reads if a reconcile that reads the same changes nothing."""

    arguments: Mapping[str, Any]
    reads: Reads | None


def is_requested() -> bool:
    """Return whether the reconcile is to be recorded."""
    return FILE in os.environ


def write(arguments: Mapping[str, Any], reads: Reads | None) -> None:
    """Write the record to its file, whole or not at all; without it, the next run is one of the playbook."""
    has_others = any(arguments.get(name) is not None for name in _NOT_RECORDED)
    if has_others or not isinstance(arguments.get("kubeconfig"), str | None):
        return
    path = os.environ[FILE]
    with suppress(OSError):
        with open(f"{path}.new", "w", encoding="utf-8", opener=partial(os.open, mode=0o600)) as file:
            json.dump(Record(arguments, reads), file)
        os.rename(f"{path}.new", path)


def from_json(text: str) -> Record | None:
    """Return the record, None if the text is none."""
    try:
        arguments, reads = json.loads(text)
        return Record(dict(arguments), Reads(*reads) if reads else None)
    except (ValueError, TypeError):
        return None
