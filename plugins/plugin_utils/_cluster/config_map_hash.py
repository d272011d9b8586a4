# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The hash of a ConfigMap as the Go operator computes it.

Every pod has it in its environment. An equal hash allows the takeover of a running cluster without a restart, so this
is byte for byte the JSON that Go writes for the ConfigMap before it has an owner.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

# Go's encoder escapes these for HTML and JavaScript.
_ESCAPED_BY_GO = str.maketrans(
    {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026", "\u2028": r"\u2028", "\u2029": r"\u2029"}
)
_LONG_ESCAPES = {r"\b": r"\u0008", r"\f": r"\u000c"}
_ESCAPE = re.compile(r"\\.")


def config_map_hashes(name: str, namespace: str, labels: Mapping[str, str], data: Mapping[str, str]) -> tuple[str, str]:
    """Return the hash of an operator built with Go 1.22 or newer, and that of one built with an older Go."""
    text = _go_json(_config_map(name, namespace, labels, data))
    return _digest(text), _digest(_with_long_escapes(text))


def _config_map(name: str, namespace: str, labels: Mapping[str, str], data: Mapping[str, str]) -> dict[str, Any]:
    # The order of fields is that of the Go structs; only maps are sorted.
    metadata = {
        "name": name,
        "namespace": namespace,
        "creationTimestamp": None,
        "labels": dict(sorted(labels.items())),
    }
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": dict(sorted(data.items()))}


def _go_json(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPED_BY_GO)


def _with_long_escapes(text: str) -> str:
    # The pattern matches every escape, so that an escaped backslash before b or f stays.
    return _ESCAPE.sub(lambda escape: _LONG_ESCAPES.get(escape.group(), escape.group()), text)


def _digest(text: str) -> str:
    # A file that is only planned can contain a lone surrogate; the API server cannot.
    return base64.b64encode(hashlib.sha1(text.encode("utf-8", "surrogatepass")).digest()).decode("ascii")
