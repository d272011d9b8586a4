# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets in Kubernetes objects: masked where they are shown, and a digest that does not reveal them. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets import masking
from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import Confidential
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import upper_levels

# A copy of the whole object as a string.
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def masked_pair(before: Any, after: Any) -> tuple[Any, Any]:
    """Return both manifests with masked secrets; a changed secret is still visible as a change."""
    return masking.masked_pair(marked(before), marked(after))


def masker_of(manifests: Iterable[Any]) -> Masker:
    """Return a masker for the secrets of these manifests."""
    return Masker.of(_known(manifest) for manifest in manifests)


def searched(resource: Mapping[str, Any]) -> Any:
    """Return the part of a resource to search for secrets: its upper levels, without the status.

    The status is masked already, and mentions fields with secret names.
    """
    return upper_levels({name: value for name, value in resource.items() if name != "status"})


def marked(value: Any) -> Any:
    """Return a manifest with the copy of the whole object in it marked as a secret."""
    if isinstance(value, Mapping):
        return {name: Confidential(child) if name == _LAST_APPLIED else marked(child) for name, child in value.items()}
    return [marked(element) for element in value] if isinstance(value, list) else value


def _known(value: Any) -> Any:
    """Return the values to search: the data of a Secret, encoded and decoded, without the copy of the whole object."""
    if isinstance(value, Mapping):
        known: dict[str, Any] = {name: _known(child) for name, child in value.items() if name != _LAST_APPLIED}
        if value.get("kind") == "Secret" and isinstance(value.get("data"), Mapping):
            known["data"] = [_decoded(*entry) for entry in value["data"].items()]
        return known
    return [_known(element) for element in value] if isinstance(value, list) else value


def _decoded(name: str, encoded: Any) -> list[Any]:
    try:
        text = base64.b64decode(str(encoded)).decode("utf-8")
    except ValueError:
        # binary data: no message quotes the decoded value
        text = ""
    return [{name: Confidential(str(encoded))}, {name: Confidential(text)}]


def secret_digest(secrets: Iterable[Mapping[str, Any] | None]) -> str:
    """Return a digest of the data of these Secrets, None for one that does not exist.

    Users who can read pods could brute-force a weak password. So the digest is keyed by the uid, which is random, and
    visible only to users who can read the Secret. (The resourceVersion would restart all pods when a label is added, or
    when all Secrets of a Kubernetes cluster are re-encrypted.)
    """
    digest = hashlib.sha256()
    for secret in secrets:
        existing = secret or {}
        uid = (existing.get("metadata") or {}).get("uid") or ""
        data = json.dumps(existing.get("data"), sort_keys=True)
        digest.update(hmac.digest(uid.encode("ascii"), data.encode("ascii"), "sha256"))
    return base64.b64encode(digest.digest()).decode("ascii")
