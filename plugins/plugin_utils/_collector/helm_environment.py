# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The environment variables of Helm: what it reads and writes besides the API server is in a directory of its own.

Otherwise it would find the plugins, repositories, caches and credentials of the user, and the next run, for another
resource, what this one has left. Proxies and certificate authorities (HTTPS_PROXY, SSL_CERT_FILE) stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

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
