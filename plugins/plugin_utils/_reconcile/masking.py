# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exit of a reconcile: its status, events, warnings, plan, diff and errors are masked here by all that it read.

What decides and acts quotes objects and other servers as they are. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import masked_excerpts

# A path of fields in a status; lists on it are passed through.
TextPath = tuple[str, ...]
# The texts in the status of every kind.
TEXTS: tuple[TextPath, ...] = (("conditions", "message"), ("message",))


@dataclass(frozen=True, eq=False)
class Masking:
    """Masks secrets. They are searched for (`find`) when the first text has to be masked: that takes long."""

    find: Callable[[], Masker] = Masker

    @cached_property
    def masker(self) -> Masker:
        return self.find()

    def text(self, text: str) -> str:
        """Return the text without secrets; excerpts in it are truncated after that.

        It also masks the users and passwords of URLs: a message may quote a field in which no URL is expected.
        """
        return masked_excerpts(text, lambda whole: without_userinfo(self.masker.text(whole))) if text else text

    def everything(self, value: Any) -> Any:
        """Return a value with all texts in it masked, except the names of fields."""
        if isinstance(value, Mapping):
            return {name: self.everything(child) for name, child in value.items()}
        if isinstance(value, list | tuple):
            return [self.everything(element) for element in value]
        return self.text(value) if isinstance(value, str) else value

    def status(self, document: Mapping[str, Any], texts: Iterable[TextPath]) -> dict[str, Any]:
        """Return a status with these texts masked. All else in it is read again, or names an object."""
        for path in (*TEXTS, *texts):
            document = self._below(document, path)
        return dict(document)

    def _below(self, value: Any, path: TextPath) -> Any:
        if isinstance(value, list):
            return [self._below(element, path) for element in value]
        if not path:
            return self.everything(value)
        if not isinstance(value, Mapping) or path[0] not in value:
            return value
        return {**value, path[0]: self._below(value[path[0]], path[1:])}


# What masks only the users and passwords of URLs.
NO_SECRETS = Masking()


@contextmanager
def masked_errors(*documents: Mapping[str, Any] | None, read: Callable[[], Iterable[Any]] = tuple) -> Iterator[None]:
    """Mask the secrets of these resources or specs, and of what was read, in the message of an error that leaves."""
    try:
        yield
    except DruidopsError as error:
        searchable = (*map(searched, filter(None, documents)), *read())
        error.args = (Masking(lambda: masker_of(searchable)).text(str(error)),)
        raise
