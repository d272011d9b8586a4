# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications that are given as text: JSON, or YAML where the machine that runs the module has PyYAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._errors import HIDDEN, BadInput

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]


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
        if yaml is None:
            remedy = f"is not JSON ({not_json}), and for YAML the machine that runs the module needs PyYAML"
            raise BadInput(option, HIDDEN, remedy) from None
    try:
        return yaml.load(text, Loader=_JsonTypes)
    except yaml.YAMLError as error:
        # the problem and its place, without the text: there may be a password in it
        place = getattr(error, "problem_mark", None)
        where = f" in line {place.line + 1}, column {place.column + 1}" if place else ""
        problem = getattr(error, "problem", None) or "not readable"
        raise BadInput(option, HIDDEN, f"is neither JSON nor YAML: {problem}{where}") from None


if yaml is not None:

    class _JsonTypes(yaml.SafeLoader):
        """YAML with the types of JSON: a date stays the text that Druid wants."""

    _JsonTypes.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
