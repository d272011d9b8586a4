# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets of specifications do not leave: those that a name gives away, and those that stand where secrets stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils import _masking
from ansible_collections.druidops.druid.plugins.module_utils._masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._spec.secret import marked


def masked(value: Any) -> Any:
    """Return ``value``, a specification or something with some in it, with its secrets masked."""
    return _masking.masked(marked(value))


def masked_pair(before: Any, after: Any) -> tuple[Any, Any]:
    """Return both with their secrets masked, so that a changed secret can still be seen to have changed."""
    return _masking.masked_pair(marked(before), marked(after))


def hidden(value: Any, source: Any) -> Any:
    """Return ``value``, a status or a text about ``source``, masked, without what is secret in ``source`` either."""
    return _masking.hidden(marked(value), marked(source))


def masker_of(documents: Iterable[Any]) -> Masker:
    """Return what masks the secrets of these documents in texts."""
    return Masker.of(marked(document) for document in documents)
