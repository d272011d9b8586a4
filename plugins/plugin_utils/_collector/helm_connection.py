# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection of Helm to the API server, from the same options as that of the reconcile itself, and its environment.

What Helm reads and writes besides the API server is in a directory of its own. Otherwise it would find the plugins,
repositories, caches and credentials of the user, and the next run, for another resource, what this one has left.
Proxies and certificate authorities (HTTPS_PROXY, SSL_CERT_FILE) stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import with_environment
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError

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
