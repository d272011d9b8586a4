# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The OpenAPI v3 documents of a kube-apiserver, and the part of them that is used, which is kept in the project."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kubernetes import client, config

# Of the Kubernetes that the tests run on by default; `make openapi` reads it again.
CACHED = Path(__file__).parent / "openapi.json"
_DOCUMENTS = ("api/v1", "apis/apps/v1", "apis/autoscaling/v2", "apis/networking.k8s.io/v1", "apis/policy/v1")


class OpenApiError(RuntimeError):
    """The documents cannot be read."""


class Schemas(dict[str, Any]):
    """Schemas by their full name, which record the ones that are used. OpenApiError for an unknown name."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        super().__init__(schemas)
        self._used: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self._used.add(name)
        return super().__getitem__(name)

    def __missing__(self, name: str) -> Any:
        raise OpenApiError(
            f"no schema {name}: check the name of the type; for one that no field had so far, run `make openapi`"
        )

    @property
    def used(self) -> str:
        """The used schemas, without their descriptions, as JSON with a schema on each line."""
        lines = (f"{json.dumps(name)}:{_compact(_bare(dict.__getitem__(self, name)))}" for name in sorted(self._used))
        return "{\n" + ",\n".join(lines) + "\n}\n"


def load(source: Path) -> Schemas:
    """The schemas by their full name, from the cache, a directory of documents or the API server of a kubeconfig."""
    if source == CACHED:
        return Schemas(json.loads(CACHED.read_text(encoding="utf-8")))
    documents = _of_directory(source) if source.is_dir() else _of_server(source)
    schemas: dict[str, Any] = {}
    for document in documents:
        schemas.update(document["components"]["schemas"])
    return Schemas(schemas)


def _bare(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    # a property of that name is a mapping
    return {key: _bare(value) for key, value in schema.items() if key != "description" or not isinstance(value, str)}


def _compact(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"), sort_keys=True)


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
