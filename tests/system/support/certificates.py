# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The certificates of a Druid as Secrets, and the fields of an endpoint that name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TRUST = {"caSecretRef": {"name": "trust", "key": "ca.crt"}}
OWN = {"clientCertificateSecretRef": {"name": "own"}}
# Annotations of a Secret that may be sent to a Druid of the tests.
PERMITTED = {"druid.apache.org/allowed-hosts": "127.0.0.1"}


def secret(name: str, **files: Path | None) -> dict[str, Any]:
    """Return a Secret with the files of a Druid, whose keys have a dot where names have none."""
    data = {key.replace("_", "."): file.read_text(encoding="utf-8") for key, file in files.items() if file}
    return {"kind": "Secret", "metadata": {"name": name, "annotations": PERMITTED}, "stringData": data}
