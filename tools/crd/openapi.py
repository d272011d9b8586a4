# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The OpenAPI v3 documents of a kube-apiserver."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kubernetes import client, config

_DOCUMENTS = ("api/v1", "apis/apps/v1", "apis/autoscaling/v2", "apis/networking.k8s.io/v1", "apis/policy/v1")


class OpenApiError(RuntimeError):
    """The documents cannot be read."""


def load(source: Path) -> dict[str, Any]:
    """The schemas by their full name, from a directory of documents or the API server of a kubeconfig."""
    documents = _of_directory(source) if source.is_dir() else _of_server(source)
    schemas: dict[str, Any] = {}
    for document in documents:
        schemas.update(document["components"]["schemas"])
    return schemas


def _of_directory(directory: Path) -> list[dict[str, Any]]:
    files = sorted(directory.glob("*.json"))
    if not files:
        raise OpenApiError(f"no OpenAPI document (*.json) in {directory}")
    return [json.loads(file.read_text()) for file in files]


def _of_server(kubeconfig: Path) -> list[dict[str, Any]]:
    configuration = client.Configuration()
    config.load_kube_config(str(kubeconfig), client_configuration=configuration)
    pool = client.ApiClient(configuration).rest_client.pool_manager
    # the settings' names differ between versions of the client
    settings: Any = configuration.auth_settings()
    headers = {setting["key"]: setting["value"] for setting in settings.values()}
    return [
        json.loads(pool.request("GET", f"{configuration.host}/openapi/v3/{document}", headers=headers).data)
        for document in _DOCUMENTS
    ]
