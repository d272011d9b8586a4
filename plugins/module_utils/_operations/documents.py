# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that contain a document in Druid's own format: each is a structure, or JSON or YAML text of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.parse import parse_list, parse_mapping

DOCUMENTS: Mapping[str, Callable[[Any, str], Any]] = {
    "spec": parse_mapping,
    "config": parse_mapping,
    "kubernetes_task_runner": parse_mapping,
    "context": parse_mapping,
    "reset_offsets": parse_mapping,
    "rules": parse_list,
    "parameters": parse_list,
}


def document_of(options: Mapping[str, Any], name: str) -> Any:
    """Return the document in an option as a structure, None if the option is not set. InvalidInput names the option."""
    value = options.get(name)
    return None if value is None else DOCUMENTS[name](value, name)
