# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Types that Druid does not know, and reads as another type without an error. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.data_schema import READ_AS_STRING
from ansible_collections.druidops.druid.plugins.module_utils._serde.table import class_of


def misread_types(kind: str, document: Any, path: str = "") -> Iterator[str]:
    """Yield a warning for each type in a document, as specified by a user, that Druid reads as another one."""
    if isinstance(document, list):
        for index, element in enumerate(document):
            yield from misread_types(kind, element, f"{path}[{index}]")
    elif isinstance(document, Mapping):
        specified = document.get("type")
        if kind == "dimension" and specified in READ_AS_STRING:
            yield f"Druid does not know type {specified} of {path}, and reads it as string. Use a type that it knows."
        druid_class = class_of(kind, document)
        for name, value in document.items():
            inside = druid_class.field(str(name)).kind
            yield from misread_types(inside, value, f"{path}.{name}" if path else str(name)) if inside else ()
