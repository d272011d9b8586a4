# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The canonical form of JSON, in which Druid's GET returns it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import Field
from ansible_collections.druidops.druid.plugins.module_utils._serde.table import kind_of


def canonical(kind: str, value: Any) -> Any:
    """
    Return an object of this kind, or a list of such objects, as specified by a user or returned by GET, as GET has it.

    Idempotent. Nulls are kept: in a user's specification they remove fields. Fields are not added or left out because
    of their defaults, since what a user has not specified stays as it is.
    """
    rules = kind_of(kind)
    if isinstance(value, list):
        return [canonical(kind, element) for element in value]
    if isinstance(value, str) and rules.from_text is not None:
        value = rules.from_text(value)
    if not isinstance(value, Mapping):
        return value
    typed = rules.with_type(value)
    druid_class = rules.class_of(typed)
    shaped = druid_class.shape(typed)
    return {name: _of_field(druid_class.field(name), each) for name, each in shaped.items()}


def _of_field(field: Field, value: Any) -> Any:
    formed = value if field.form is None or value is None else field.form(value)
    return canonical(field.kind, formed) if field.kind else formed
