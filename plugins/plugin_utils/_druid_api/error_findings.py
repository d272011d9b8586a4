# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is in the way when Druid does not do what it is asked for, as a finding. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    Forbidden,
    InvalidResponse,
    ServerError,
    Unauthorized,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

_REASONS: tuple[tuple[type[DruidError], str], ...] = (
    (InvalidInput, reasons.INVALID_SPEC),
    (Unreachable, reasons.DRUID_UNREACHABLE),
    (InvalidResponse, reasons.DRUID_UNREACHABLE),
    (Unauthorized, reasons.UNAUTHORIZED),
    (Forbidden, reasons.UNAUTHORIZED),
    (ServerError, reasons.DRUID_UNREACHABLE),
)
_CREDENTIALS = (
    "The user and its password are those of the Secret in spec.auth.secretRef; grant it what is missing in Druid, or "
    "name another one."
)
# What the options of modules, which errors name, are in a resource.
_FIELDS: Mapping[str, str] = {
    "url": (
        "the option url of the task (in the roles: druid_cluster_url, druid_ingestion_url) where that is set, else "
        "spec.endpoint.url, else the Service of the cluster's router, whose name is known inside of Kubernetes only"
    ),
    "ca_path": "spec.endpoint.caSecretRef",
    "client_cert": "spec.endpoint.clientCertificateSecretRef",
    "client_key": "spec.endpoint.clientCertificateSecretRef",
}


def resource_field(option: str) -> str:
    """Return what an option of a module is in a resource; the option itself where nothing else is called so."""
    return _FIELDS.get(option, option)


def error_finding(error: DruidError) -> Finding:
    """Return the reason by the kind of the error, in its own words."""
    root = _root_error(error)
    reason = next((reason for kind, reason in _REASONS if isinstance(root, kind)), reasons.REJECTED_BY_DRUID)
    return Finding(reason, " ".join((str(error), *_remarks(reason, str(error)))))


def _root_error(error: DruidError) -> DruidError:
    """Return the error behind one that tells what was read back: when no answer of Druid came, it is that.

    A Router that has lost its Overlord answers 500 or 502.
    """
    return error.__cause__ if isinstance(error.__cause__, Unreachable | ServerError) else error


def _remarks(reason: str, text: str) -> Iterator[str]:
    if reason == reasons.UNAUTHORIZED:
        yield _CREDENTIALS
    named = [f"{option} is {field}" for option, field in _FIELDS.items() if re.search(rf"\b{option}\b", text)]
    if named:
        yield f"Here {'; '.join(named)}."
