# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications that are given as text: JSON, or YAML where the machine that runs the module has PyYAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils import _yaml
from ansible_collections.druidops.druid.plugins.module_utils._errors import HIDDEN, BadInput


def mapping_of(value: Any, option: str) -> dict[str, Any]:
    """Return a mapping, or the one that a JSON or YAML text holds; BadInput names ``option`` otherwise."""
    if isinstance(value, str):
        value = _parsed(value, option)
    if not isinstance(value, Mapping):
        kind = "nothing" if value is None else type(value).__name__
        raise BadInput(option, HIDDEN, f"has to be a mapping, or JSON or YAML text of one, and is {kind}")
    return dict(value)


def _parsed(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as not_json:
        if not _yaml.is_there():
            remedy = f"is not JSON ({not_json}), and for YAML the machine that runs the module needs PyYAML"
            raise BadInput(option, HIDDEN, remedy) from None
    try:
        return _yaml.load(text)
    except _yaml.NotYaml as error:
        raise BadInput(option, HIDDEN, f"is neither JSON nor YAML: {error}") from None
