# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A digest of the data of Secrets that does not reveal it. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from typing import Any


def secret_digest(secrets: Iterable[Mapping[str, Any] | None]) -> str:
    """Return a digest of the data of these Secrets, None for one that does not exist.

    Users who can read pods could brute-force a weak password. So the digest is keyed by the uid, which is random, and
    visible only to users who can read the Secret. (The resourceVersion would restart all pods when a label is added, or
    when all Secrets of a Kubernetes cluster are re-encrypted.)
    """
    digest = hashlib.sha256()
    for secret in secrets:
        found = secret or {}
        uid = (found.get("metadata") or {}).get("uid") or ""
        data = json.dumps(found.get("data"), sort_keys=True)
        digest.update(hmac.digest(uid.encode("ascii"), data.encode("ascii"), "sha256"))
    return base64.b64encode(digest.digest()).decode("ascii")
