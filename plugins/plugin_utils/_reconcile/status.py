# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes of a resource's status, for both kinds."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import observe_failure


def report_observe_failure(api: KubernetesApi, resource: Manifest, error: KubernetesError, now: datetime) -> None:
    """Report in the conditions that a read failed; the rest of the status stays unchanged."""
    previous = resource.get("status") or {}
    metadata = resource["metadata"]
    document = {**previous, "conditions": observe_failure(str(error), previous, metadata.get("generation"), now)}
    if "uid" in metadata and document != previous:
        with suppress(KubernetesError):
            write_status(api, resource, {**document, "reason": reasons.OBSERVE_FAILED})


def write_status(api: KubernetesApi, resource: Manifest, document: Mapping[str, Any]) -> None:
    """Write the whole status, with the uid and the generation as preconditions.

    If the generation has changed, nothing is written: the reconcile of the later generation writes its own status.
    """
    metadata = resource["metadata"]
    operations = [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        {"op": "test", "path": "/metadata/generation", "value": metadata["generation"]},
        {"op": "add", "path": "/status", "value": document},
    ]
    try:
        api.patch_status(resource["kind"], metadata["namespace"], metadata["name"], operations)
    except ApiError as error:
        if not error.is_failed_patch_test:
            raise


def reporting_errors(error: KubernetesError) -> tuple[str, ...]:
    """Return the error of a write of status or events; nothing if the resource was deleted."""
    return () if isinstance(error, ApiError) and error.is_missing_object else (str(error),)
