# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that reads what the last run of its resource has read ends there: the playbook would change nothing either.

The action records what it has read in a file beside the run's own ones (plugin_utils/_reconcile/unchanged.py). The
record is of no use for a run with other inputs, for one of another resident process, and after a while.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import unchanged

from . import in_process, restrictions, without_playbook

# A full reconcile follows after this time in seconds, even if nothing has changed; 0: each reconcile is a full one.
PERIOD = "DRUIDOPS_FULL_RECONCILE_PERIOD"
DEFAULT_SECONDS = 600
# The playbook that only reconciles: what a run of it depends on is recorded.
_PLAYBOOK = "operator_druid.yml"
_PREFIX = "readings-"
_OUTPUT = "Everything that the last full reconcile has read is unchanged: its playbook was not run.\n"
# Runs of another resident process may have been those of another ansible-operator, which watched other kinds.
_SESSION = secrets.token_hex(16)


def run(options: in_process.Options) -> int:
    """Run the playbook unless everything is as in the last run; the exit status."""
    limit = restrictions.duration(os.environ.get(PERIOD, ""), DEFAULT_SECONDS)
    if not limit or os.path.basename(options.playbook) != _PLAYBOOK:
        return in_process.run(options)
    file = os.path.join(options.directory, f"{_PREFIX}{_inputs(options)}")
    if _is_as_recorded(file, limit):
        address = without_playbook.address(options.directory)
        return without_playbook.end(options, address, "playbook_on_stats", {}, _OUTPUT)
    _forget(options.directory)
    os.environ[unchanged.FILE] = file
    status = in_process.run(options)
    if status or not _has_only_reconciled(options):
        _forget(options.directory)
    return status


def _inputs(options: in_process.Options) -> str:
    """A digest of what the run was given; its environment is that of the resident process."""
    files = (os.path.join(options.directory, "env", "extravars"), os.environ.get("K8S_AUTH_KUBECONFIG", ""))
    texts = (_SESSION, options.playbook, str(options.verbosity), *map(_content, files))
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def _content(file: str) -> str | None:
    with suppress(OSError):
        return Path(file).read_text(encoding="utf-8")
    return None


def _is_as_recorded(file: str, limit: float) -> bool:
    text = _content(file)
    last = unchanged.from_json(text) if text else None
    return last is not None and 0 <= time.monotonic() - last.ended < limit and unchanged.repeat(DRUID, last)


def _forget(directory: str) -> None:
    for file in Path(directory).glob(f"{_PREFIX}*"):
        file.unlink(missing_ok=True)


def _has_only_reconciled(options: in_process.Options) -> bool:
    """True if one task was run: an image derived from ours may have added others to the playbook."""
    return [*_kinds(Path(options.directory, "artifacts", options.ident, "job_events"))].count("runner_on_ok") == 1


def _kinds(directory: Path) -> Iterator[str]:
    for file in directory.glob("*.json"):
        yield json.loads(file.read_text(encoding="utf-8"))["event"]
