# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helm, by the modules of kubernetes.core: the only code that has Helm do something.

Values are handed over in a file of a directory that only this user can read, and that is removed afterwards.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import dropwhile
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http.time_limit import TimeLimit
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import names, run_helm
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm_connection import private_environment
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconciled import Target
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import (
    HelmError,
    UnreadableRelease,
    documents,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.validate import is_safe_path
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import to_json
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import MIDDLE, excerpt

# Runs a module with arguments and environment variables, and returns its result.
RunModule = Callable[[str, Mapping[str, Any], Mapping[str, str]], Mapping[str, Any]]

MODULE, TEMPLATE = "kubernetes.core.helm", "kubernetes.core.helm_template"
HISTORY = 10
_PRIVATE = 0o600
_MAX_MESSAGE = 2000


class Rendered(NamedTuple):
    """The objects of a chart, and the target with the very chart that they are of: it is not downloaded again."""

    objects: tuple[Manifest, ...]
    target: Target


@dataclass(frozen=True)
class Helm:
    """Helm of the controller. `connection` are arguments of the modules, `environment` variables of all of them.

    `temporary` is the directory for the files of a run. It is removed with the run, if that is killed.
    `registry_config` is the file with the credentials of registries, `service_account` the name of the account of a
    tenant as which Helm connects. `time_limit` is that of the run, for the repositories of charts.
    """

    run_module: RunModule
    connection: Mapping[str, Any]
    environment: Mapping[str, str]
    binary: str | None = None
    temporary: str | None = None
    registry_config: str | None = None
    service_account: str = ""
    time_limit: TimeLimit | None = None

    def rendered(self, target: Target) -> Rendered:
        """Return the objects of the chart, with those of its hooks and its CRDs. Nothing is connected."""
        with self._files(target.values) as (directory, values, environment):
            output = directory / "rendered"
            arguments = {
                **self._chart(target),
                "values_files": [str(values)],
                "include_crds": True,
                "output_dir": str(output),
            }
            self._run(TEMPLATE, arguments, environment, directory, self.time_limit)
            # Of a repository's chart, the names of the files are those in its archive.
            files = sorted(path for path in output.rglob("*") if path.is_file())
            try:
                found = tuple(each for file in files for each in documents(file.read_text(encoding="utf-8")))
                return Rendered(found, self._with_archive(target, directory))
            except (UnreadableRelease, OSError, UnicodeDecodeError) as error:
                raise HelmError(f"The chart {target.chart.title} cannot be used: {error}.") from None

    def _with_archive(self, target: Target, directory: Path) -> Target:
        """Return the target with the archive of a chart that Helm has downloaded into the directory."""
        archives = [*directory.rglob("*.tgz")]
        if target.chart.requested_version is None or len(archives) != 1:
            return target
        handle, path = tempfile.mkstemp(prefix="collector-chart-", suffix=".tgz", dir=self.temporary)
        os.close(handle)
        shutil.copyfile(archives[0], path)
        return replace(target, chart=replace(target.chart, reference=path, repository=None, requested_version=None))

    def deploy(self, target: Target, timeout: int, *, skip_crds: bool) -> None:
        """Install or upgrade the release, and wait for the chart's hooks only."""
        with self._files(target.values) as (directory, values, environment):
            arguments = {
                **self._chart(target),
                **self.connection,
                "values_files": [str(values)],
                "release_state": "present",
                "timeout": f"{timeout}s",
                "history_max": HISTORY,
                "skip_crds": skip_crds,
            }
            self._run(MODULE, arguments, {**environment, **self._as_user(target.namespace)}, directory)

    def uninstall(self, release: str, namespace: str) -> None:
        """Uninstall the release, and wait for the chart's hooks only."""
        with self._files({}) as (directory, _values, environment):
            arguments = {
                **self.connection,
                "release_name": release,
                "release_namespace": namespace,
                "release_state": "absent",
            }
            self._run(MODULE, arguments, {**environment, **self._as_user(namespace)}, directory)

    def _as_user(self, namespace: str) -> dict[str, str]:
        return {"HELM_KUBEASUSER": names.user_of(self.service_account, namespace)}

    def _chart(self, target: Target) -> dict[str, Any]:
        chart = target.chart
        repository = {"chart_repo_url": chart.repository} if chart.repository else {}
        version = {"chart_version": chart.requested_version} if chart.requested_version else {}
        names = {"release_name": target.release, "release_namespace": target.namespace}
        return {**names, "chart_ref": chart.reference, **repository, **version}

    def _run(
        self,
        module: str,
        arguments: Mapping[str, Any],
        environment: Mapping[str, str],
        directory: Path,
        limit: TimeLimit | None = None,
    ) -> None:
        binary, program = shutil.which(self.binary or "helm"), self.binary
        if binary is not None:
            program = str(directory / "helm")
            run_helm.write(program, binary, limit.end if limit else None)
        # Without it, the module reports that.
        result = self.run_module(module, {**arguments, **({"binary_path": program} if program else {})}, environment)
        if result.get("failed"):
            raise HelmError(_message(result))

    @contextmanager
    def _files(self, values: Mapping[str, Any]) -> Iterator[tuple[Path, Path, Mapping[str, str]]]:
        """A directory of this user, the file with the values in it, and the environment of the modules."""
        directory = Path(tempfile.mkdtemp(prefix="collector-", dir=self.temporary))
        try:
            if not is_safe_path(str(directory)):
                raise HelmError(
                    f"The path {directory} of temporary files has characters other than letters, digits and /._+-. "
                    "Set ANSIBLE_LOCAL_TEMP."
                )
            path = directory / "values.json"
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "wb") as file:
                file.write(to_json(values))
            yield directory, path, {**self.environment, **private_environment(directory, self.registry_config)}
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def _message(result: Mapping[str, Any]) -> str:
    """Return Helm's own message: that of the module quotes the whole output before it.

    It ends where the output ends: the fields that a schema refuses are in lines of their own.
    """
    lines = str(result.get("stderr") or "").splitlines()
    errors = dropwhile(lambda line: not line.startswith("Error:"), lines)
    text = " ".join(filter(None, map(str.strip, errors))) or str(result.get("msg") or "no message")
    # The reason of an error is at the end of its message.
    return f"Helm: {excerpt(_OBJECT.sub('...', text.removeprefix('Error: ')), _MAX_MESSAGE, MIDDLE)}"


# The whole object, which the API server quotes before its reason.
_OBJECT = re.compile(r'"\{.*\}"(?=: )', re.DOTALL)


def _nothing(module: str, _arguments: Mapping[str, Any], _environment: Mapping[str, str]) -> Mapping[str, Any]:
    return {"failed": True, "msg": f"{module} is not available"}


def no_helm() -> Helm:
    """Return a Helm that always fails."""
    return Helm(_nothing, {}, {})
