# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that contain a document in Druid's own format: each is a structure, or JSON or YAML text of it. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.parse import parse_list, parse_mapping

DOCUMENTS: Mapping[str, Callable[[Any, str], Any]] = {
    "spec": parse_mapping,
    "config": parse_mapping,
    "coordinator": parse_mapping,
    "overlord": parse_mapping,
    "kubernetes_task_runner": parse_mapping,
    "broker": parse_mapping,
    "compaction": parse_mapping,
    "context": parse_mapping,
    "reset_offsets": parse_mapping,
    "rules": parse_list,
    "permissions": parse_list,
    "parameters": parse_list,
}


def document_of(options: Mapping[str, Any], name: str) -> Any:
    """Return the document in an option as a structure, None if the option is not set. InvalidInput names the option."""
    value = options.get(name)
    if value is None:
        return None
    document = DOCUMENTS[name](value, name)
    for place, number in _without_json_form(document, name):
        raise InvalidInput(place, str(number), "JSON has no such number, and Druid accepts none. Set another value")
    return document


def structured(options: Any) -> Any:
    """Return the options with the documents in strings parsed, so that their secrets are found by name."""
    if isinstance(options, Mapping):
        return {
            name: _document(options, name) if name in DOCUMENTS else structured(value)
            for name, value in options.items()
        }
    return [structured(element) for element in options] if isinstance(options, list) else options


def _document(options: Mapping[str, Any], name: str) -> Any:
    # task_info has an option spec that is a boolean
    if not isinstance(options[name], str):
        return options[name]
    try:
        return document_of(options, name)
    except InvalidInput as error:
        return str(error)


def _without_json_form(value: Any, place: str) -> Iterator[tuple[str, float]]:
    """Yield the place of each number that is infinite or no number, as YAML and Python have them."""
    if isinstance(value, float) and not math.isfinite(value):
        yield place, value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _without_json_form(each, f"{place}.{name}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _without_json_form(each, f"{place}[{index}]")
