# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every name, label and annotation of an ingestion, in one place."""

from __future__ import annotations

import hashlib

API_VERSION = "druid.apache.org/v1alpha1"
KIND = "DruidIngestion"

# The Go operator's, so that either can take over from the other.
FINALIZER = "druidingestion.datainfra.io/finalizer"
# A new value requests one more attempt of a failed batch.
RETRY_ANNOTATION = "druid.apache.org/retry"
# What was or will be submitted for the resource, and which record of it is believed (``record_check``): JSON.
NOTE_ANNOTATION = "druid.apache.org/submitted"

RECORD_SUFFIX = "-ingestion"
_MOST_CHARACTERS = 253
_DIGITS = 10


def record_name(ingestion: str) -> str:
    """Return the name of the ConfigMap with the last applied spec."""
    if len(ingestion + RECORD_SUFFIX) <= _MOST_CHARACTERS:
        return ingestion + RECORD_SUFFIX
    digest = hashlib.sha256(ingestion.encode()).hexdigest()[:_DIGITS]
    kept = _MOST_CHARACTERS - len(RECORD_SUFFIX) - _DIGITS - 1
    return f"{ingestion[:kept]}-{digest}{RECORD_SUFFIX}"


def labels() -> dict[str, str]:
    """Return the labels of the objects of an ingestion."""
    return {"app.kubernetes.io/name": "druid-ingestion", "app.kubernetes.io/managed-by": "druidops"}
