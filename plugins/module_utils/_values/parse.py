# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parses mappings, numbers and booleans in strings: JSON, or YAML if PyYAML is installed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values import yaml_loader
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput


def parse_mapping(value: Any, option: str) -> dict[str, Any]:
    """Return a mapping, which may be a JSON or YAML string. Otherwise InvalidInput names ``option``."""
    if isinstance(value, str):
        value = _parse(value, option)
    if not isinstance(value, Mapping):
        kind = "null" if value is None else type(value).__name__
        raise InvalidInput(option, HIDDEN, f"must be a mapping, or a JSON or YAML string of one, not {kind}")
    return dict(value)


def _parse(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as not_json:
        if not yaml_loader.is_available():
            remedy = f"is not JSON ({not_json}), and YAML requires PyYAML on the host that runs the module"
            raise InvalidInput(option, HIDDEN, remedy) from None
    try:
        return yaml_loader.load(text)
    except yaml_loader.InvalidYaml as error:
        raise InvalidInput(option, HIDDEN, f"is neither JSON nor YAML: {error}") from None


# Druid's integers have 64 bits. Python does not convert thousands of digits.
_WHOLE_NUMBER = re.compile(r"[0-9]{1,30}")
_BOOLEANS = {"true": True, "false": False}


def parse_whole_number(value: Any) -> Any:
    """Return the integer in a string, and any other value unchanged, for Druid to validate."""
    return int(value) if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value) else value


def parse_boolean(value: Any) -> Any:
    """Return the boolean in a string, and any other value unchanged."""
    return _BOOLEANS.get(value.lower(), value) if isinstance(value, str) else value
