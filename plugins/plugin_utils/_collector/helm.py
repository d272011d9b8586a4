# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helm, by the modules of kubernetes.core: its connection, and the only code that has Helm do something."""

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
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import run_helm
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import (
    HelmError,
    UnreadableRelease,
    documents,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import is_safe_path, user_of
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import Target
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import to_json
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import with_environment
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import MIDDLE, excerpt

# What a shell may have set for Helm: another API server, user or storage than those that the reconcile examined. Helm
# takes an empty text for a variable that is not set.
NEUTRAL: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "HELM_BURST_LIMIT",
            "HELM_DEBUG",
            "HELM_KUBEAPISERVER",
            "HELM_KUBEASGROUPS",
            "HELM_KUBEASUSER",
            "HELM_KUBECAFILE",
            "HELM_KUBECONTEXT",
            "HELM_KUBEINSECURE_SKIP_TLS_VERIFY",
            "HELM_KUBETLS_SERVER_NAME",
            "HELM_KUBETOKEN",
            "HELM_MAX_HISTORY",
            "HELM_MEMORY_DRIVER_DATA",
            "HELM_NAMESPACE",
            "HELM_NO_PLUGINS",
            "HELM_PPROF_CPU_PROFILE",
            "HELM_PPROF_MEM_PROFILE",
            "HELM_QPS",
        ),
        "",
    ),
    "HELM_DRIVER": "secret",
    # The default of kubernetes.core, which may be that of the operator's cache.
    "K8S_AUTH_KUBECONFIG": "",
}
# The variables of files and directories, and their paths in the directory of a run.
_PATHS: Mapping[str, str] = {
    "DOCKER_CONFIG": "docker",
    "HELM_CACHE_HOME": "cache",
    "HELM_CONFIG_HOME": "config",
    "HELM_DATA_HOME": "data",
    "HELM_PLUGINS": "plugins",
    "HELM_REGISTRY_CONFIG": "docker/config.json",
    "HELM_REPOSITORY_CACHE": "cache/repository",
    "HELM_REPOSITORY_CONFIG": "config/repositories.yaml",
    # Which kinds the API server has, as its clients remember it for hours.
    "KUBECACHEDIR": "cache/kubernetes",
}
# Without any entry, Helm would search the path for a program that stores credentials.
_NO_CREDENTIALS = '{"auths": {"registry.invalid": {}}}'


def private_environment(directory: Path, registry_config: str | None) -> dict[str, str]:
    """Return the variables of a run with this directory, and create the files that must exist.

    `registry_config` is the administrator's file with credentials of registries.
    """
    (directory / "plugins").mkdir()
    (directory / "docker").mkdir()
    (directory / "docker" / "config.json").write_text(_NO_CREDENTIALS, encoding="utf-8")
    own = {name: str(directory / path) for name, path in _PATHS.items()}
    return {**own, "HELM_REGISTRY_CONFIG": registry_config} if registry_config else own


# The options of kubernetes.core.helm.
_SUPPORTED = ("context", "host", "api_key", "ca_cert", "validate_certs")
_UNSUPPORTED = (
    "username",
    "password",
    "client_cert",
    "client_key",
    "proxy",
    "no_proxy",
    "impersonate_user",
    "impersonate_groups",
)
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


class HelmConnection(NamedTuple):
    """Arguments and environment variables of the modules."""

    arguments: Mapping[str, Any]
    environment: Mapping[str, str]


def helm_connection(options: Mapping[str, Any], environment: Mapping[str, str]) -> HelmConnection:
    """Return the connection; KubernetesError if Helm does not support one of the options.

    The path of a kubeconfig is passed as it is: kubernetes.core would copy the file, whose relative paths would then
    be wrong. Its own default, that of the operator's cache, must not take effect.
    """
    settled = with_environment(options, environment)
    unsupported = [name for name in _UNSUPPORTED if settled.get(name)]
    if unsupported:
        raise KubernetesError(
            f"Helm does not support the options {', '.join(unsupported)} of the connection to Kubernetes. Use a "
            "kubeconfig, or host and api_key."
        )
    arguments = {name: settled[name] for name in _SUPPORTED if settled.get(name) is not None}
    kubeconfig = settled.get("kubeconfig")
    if isinstance(kubeconfig, Mapping):
        return HelmConnection({**arguments, "kubeconfig": dict(kubeconfig)}, NEUTRAL)
    if kubeconfig:
        return HelmConnection(arguments, {**NEUTRAL, "KUBECONFIG": str(Path(kubeconfig).expanduser())})
    if not settled.get("host") and not settled.get("context") and environment.get(_HOST) and _SERVICE_ACCOUNT.exists():
        return HelmConnection({**arguments, "kubeconfig": in_cluster(environment)}, NEUTRAL)
    return HelmConnection(arguments, NEUTRAL)


def in_cluster(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the kubeconfig of a pod; the token stays in its file, which Kubernetes renews."""
    host = environment[_HOST]
    shown = f"[{host}]" if ":" in host else host
    server = f"https://{shown}:{environment.get(_PORT, '443')}"
    cluster = {"server": server, "certificate-authority": str(_SERVICE_ACCOUNT / "ca.crt")}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "pod", "cluster": cluster}],
        "users": [{"name": "pod", "user": {"tokenFile": str(_SERVICE_ACCOUNT / "token")}}],
        "contexts": [{"name": "pod", "context": {"cluster": "pod", "user": "pod"}}],
        "current-context": "pod",
    }


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
        return {"HELM_KUBEASUSER": user_of(self.service_account, namespace)}

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
