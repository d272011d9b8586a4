# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start ansible-runner for a resource: the input directory, the command, the events."""

from __future__ import annotations

import json
import logging
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from .events import Events, socket_of
from .kinds import key_of
from .runs import INPUT, RUNNER
from .watches import Watch

_LOG = logging.getLogger("runner")
ANNOTATIONS = "ansible.sdk.operatorframework.io/"
_INVENTORY = "localhost ansible_connection=local ansible_python_interpreter={{ansible_playbook_python}}"


@dataclass(frozen=True)
class Launcher:
    """Starts the runs of a watch; the environment is the operator's."""

    watch: Watch
    environment: Mapping[str, str]

    def launch(self, ident: str, resource: Mapping[str, Any], kubeconfig: Path) -> tuple[Events, Path]:
        """Start a run; its events, which end with the process, and the file of its standard output."""
        kind, key = self.watch.kind, key_of(resource)
        directory = INPUT / kind.group / kind.version / kind.kind / key.namespace / key.name
        finalizer = self.watch.finalizer
        finalizing = finalizer is not None and "deletionTimestamp" in resource["metadata"]
        playbook = finalizer.playbook if finalizer and finalizing else self.watch.playbook
        self._write(directory, ident, resource, kubeconfig)
        artifacts = _annotation(resource, "max-runner-artifacts", self.watch.max_runner_artifacts)
        verbosity = _annotation(resource, "verbosity", self.watch.verbosity)
        command = [
            RUNNER,
            "run",
            str(directory),
            "--rotate-artifacts",
            str(artifacts),
            "-p",
            str(playbook),
            "-i",
            ident,
        ]
        command += ["-" + "v" * verbosity] if verbosity > 0 else []
        events = Events(ident)
        Thread(target=self._run, args=(command, kubeconfig, events, directory, ident), daemon=True).start()
        return events, directory / "artifacts" / ident / "stdout"

    def _write(self, directory: Path, ident: str, resource: Mapping[str, Any], kubeconfig: Path) -> None:
        """Write the input directory over that of the resource's last run."""
        files = {
            "env/envvars": json.dumps(_variables(kubeconfig)),
            "env/extravars": json.dumps(parameters(self.watch, resource)),
            "env/settings": json.dumps({"runner_http_url": str(socket_of(ident)), "runner_http_path": "/events/"}),
            "inventory/hosts": _INVENTORY,
            "project/playbook.yaml": self.watch.playbook.read_text(),
        }
        for name, content in files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(content)

    def _run(self, command: list[str], kubeconfig: Path, events: Events, directory: Path, ident: str) -> None:
        """Wait for its end; its exit status is logged only."""
        try:
            done = subprocess.run(
                command,
                env={**self.environment, **_variables(kubeconfig)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
            )
            _LOG.info("job=%s exit status=%d%s", ident, done.returncode, f"\n{done.stdout}" if done.returncode else "")
        finally:
            events.close()
        latest = directory / "artifacts" / "latest"
        with suppress(FileNotFoundError, FileExistsError):
            latest.unlink(missing_ok=True)
            latest.symlink_to(latest.with_name(ident))


def _variables(kubeconfig: Path) -> dict[str, str]:
    return {"K8S_AUTH_KUBECONFIG": str(kubeconfig), "KUBECONFIG": str(kubeconfig)}


def parameters(watch: Watch, resource: Mapping[str, Any]) -> dict[str, Any]:
    """The extra variables of a run: the fields of the spec, the resource and its spec, and the watch's own."""
    spec = resource["spec"]
    name = f"_{watch.kind.group}_{watch.kind.kind.lower()}".replace(".", "_").replace("-", "_")
    key = key_of(resource)
    return {
        **mark_unsafe(spec),
        "ansible_operator_meta": {"name": key.name, "namespace": key.namespace},
        name: mark_unsafe(resource),
        f"{name}_spec": mark_unsafe(spec),
        **watch.vars,
    }


def mark_unsafe(value: Any) -> Any:
    """The value with every string, but no key, marked as one that Ansible does not template."""
    if isinstance(value, Mapping):
        return {key: mark_unsafe(each) for key, each in value.items()}
    if isinstance(value, list):
        return [mark_unsafe(each) for each in value]
    return {"__ansible_unsafe": value} if isinstance(value, str) else value


def _annotation(resource: Mapping[str, Any], name: str, default: int) -> int:
    """The number that the author of the resource specifies; one that is not a number is ignored."""
    text = (resource["metadata"].get("annotations") or {}).get(ANNOTATIONS + name, default)
    try:
        return int(text)
    except ValueError:
        return default
