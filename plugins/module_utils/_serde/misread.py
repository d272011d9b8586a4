# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Druid reads in another way than users may expect, without an error. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.data_schema import NUMBERS, READ_AS_STRING
from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import Json
from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import is_true
from ansible_collections.druidops.druid.plugins.module_utils._serde.table import class_of


def misread(kind: str, document: Any, path: str = "") -> Iterator[str]:
    """Yield a warning for each type in a document, as specified by a user, that Druid reads as another one, and for
    each field that it ignores."""
    if isinstance(document, list):
        for index, element in enumerate(document):
            yield from misread(kind, element, f"{path}[{index}]")
    elif isinstance(document, Mapping):
        specified = document.get("type")
        if kind == "dimension" and specified in READ_AS_STRING:
            yield f"Druid does not know type {specified} of {path}, and reads it as string. Use a type that it knows."
        yield from (f"Druid ignores {name} of {path}. {remedy}" for name, remedy in _ignored(kind, document))
        druid_class = class_of(kind, document)
        for name, value in document.items():
            inside = druid_class.field(str(name)).kind
            yield from misread(inside, value, f"{path}.{name}" if path else str(name)) if inside else ()


def _ignored(kind: str, document: Json) -> Iterator[tuple[str, str]]:
    """Yield the name of each field that Druid ignores, and a remedy."""
    if kind == "dimension" and document.get("type") in NUMBERS and is_true(document.get("createBitmapIndex")):
        yield "createBitmapIndex", "A column of numbers has no bitmap index."
    # GET returns both
    earliest = (document.get("useEarliestSequenceNumber"), document.get("useEarliestOffset"))
    if kind == "kafkaIOConfig" and earliest[0] is not None and earliest[1] is None:
        yield "useEarliestSequenceNumber", "For Kafka, the field is useEarliestOffset."
