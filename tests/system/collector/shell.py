# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the shell of a person may have for Helm. None of it takes part in a run, which leaves nothing in its place."""

from __future__ import annotations

from pathlib import Path

# With these, Helm connects to another API server, or stores releases elsewhere.
CONNECTION = {"HELM_KUBEAPISERVER": "https://127.0.0.1:1", "HELM_DRIVER": "configmap", "HELM_KUBEASUSER": "another"}
# Helm fails when it reads one of these.
FILES = {
    "HELM_REPOSITORY_CONFIG": ("repositories.yaml", "not: [YAML"),
    "HELM_REGISTRY_CONFIG": ("registry.json", "{not JSON"),
    # with this, it runs a program that does not exist
    "DOCKER_CONFIG": ("docker/config.json", '{"credsStore": "of-nobody"}'),
    "HELM_PLUGINS": ("plugins/broken/plugin.yaml", "not: [YAML"),
}
DIRECTORIES = ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_REPOSITORY_CACHE", "KUBECACHEDIR")


def variables(directory: Path) -> dict[str, str]:
    """Return the variables, and create their files in the directory."""
    for path, text in FILES.values():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return {
        **CONNECTION,
        "HELM_REPOSITORY_CONFIG": str(directory / "repositories.yaml"),
        "HELM_REGISTRY_CONFIG": str(directory / "registry.json"),
        "DOCKER_CONFIG": str(directory / "docker"),
        "HELM_PLUGINS": str(directory / "plugins"),
        **{name: str(directory / name) for name in DIRECTORIES},
    }


def left(directory: Path, home: Path) -> set[str]:
    """Return what a run has left there, or where Helm and the client of Kubernetes store things by default."""
    of_home = {each for each in (".cache", ".config", ".docker", ".kube", ".local") if (home / each).exists()}
    return of_home | {each.name for each in directory.iterdir() if each.name in DIRECTORIES}
