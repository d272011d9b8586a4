# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields in which two states of an object differ, as text, and both states for a diff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import upper_levels
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.names import BOOKKEEPING
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import marked, masked_pair
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import NO_SECRETS, Masking
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Difference
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import shown_change

MAX_CHANGES = 5
# The end of the header of an object that does not exist.
_ABSENT = " (absent)"
# Our own notes in JSON: the pods that leave are in the status, with events of their own.
_RECORDS: Mapping[str, str] = {
    f"metadata.annotations.{names.DRAIN_ANNOTATION}": "the drain",
    f"metadata.annotations.{names.DECOMMISSION_ANNOTATION}": "the decommissioning",
}


def change_text(before: Manifest | None, after: Manifest | None) -> str:
    """Return the changed fields of an object, for an event."""
    fields = changed_fields(before or {}, after or {})
    shown = listed([field for field in fields if field[0] not in _RECORDS])
    records = " and ".join(_RECORDS[path] for path, _change in fields if path in _RECORDS)
    return shown or (f" Only the record of {records}." if records else " Field ownership only.")


def listed(changes: list[tuple[str, str]]) -> str:
    """Return the first changed fields as text, and how many more there are."""
    shown = "; ".join(f"{path}: {change}" for path, change in changes[:MAX_CHANGES])
    more = f" and {len(changes) - MAX_CHANGES} more" if len(changes) > MAX_CHANGES else ""
    return f" {shown}{more}" if changes else ""


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return path and change of each leaf that differs, without server-side fields.

    What its name or place reveals is masked here: a text does not have it any more, and the exit does not know the
    value if a webhook has set it, or if it is short. Others are masked, and the values truncated, at the exit.
    """
    return list(differences(*masked_pair(before, after)))


def differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and change of each leaf that differs."""
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in {**before, **after}:
            if name not in BOOKKEEPING and not (name == "status" and not path):
                yield from differences(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_differences(before, after, path)
    else:
        yield path, shown_change(before, after)


def _list_differences(before: list[Any], after: list[Any], path: str) -> Iterator[tuple[str, str]]:
    old, new = _by_name(before), _by_name(after)
    for name in {**old, **new}:
        yield from differences(old.get(name), new.get(name), f"{path}[{name}]")


def _by_name(elements: list[Any]) -> dict[Any, Any]:
    """Return the elements by name if names are unique, otherwise by position."""
    mappings = [element for element in elements if isinstance(element, Mapping)]
    named = {mapping["name"]: mapping for mapping in mappings if isinstance(mapping.get("name"), str)}
    return named if len(named) == len(elements) else dict(enumerate(elements))


def essence(manifest: Manifest | None) -> dict[str, Any] | None:
    """Return the manifest without status and server-side metadata.

    Of a Druid resource that is nested too deeply, return the upper levels.
    """
    if manifest is None:
        return None
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in BOOKKEEPING}
    if "ownerReferences" in metadata:
        metadata["ownerReferences"] = [_without_uid(reference) for reference in metadata["ownerReferences"]]
    specified = {**{name: value for name, value in manifest.items() if name != "status"}, "metadata": metadata}
    return dict(upper_levels(specified))


def _without_uid(reference: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in reference.items() if name != "uid"}


@dataclass(frozen=True)
class ObjectDifference(Difference):
    """Both states of an object, of which YAML is shown. With `is_later`, a later reconcile changes it."""

    is_destructive: bool = False
    is_later: bool = False

    def shown(self, masking: Masking = NO_SECRETS) -> dict[str, Any]:
        before, after = self.masked(masking)
        place = f"{self.what}{' (later)' if self.is_later else ''}"
        return {
            "before_header": f"{place}{'' if before is not None else _ABSENT}",
            "after_header": f"{place}{'' if after is not None else _ABSENT}",
            "before": as_text(before),
            "after": as_text(after),
            **({"destructive": True} if self.is_destructive else {}),
        }


def entry(place: str, before: Any, after: Any, is_destructive: bool = False) -> ObjectDifference:
    """Return both states of an object for the diff. None: it does not exist."""
    return ObjectDifference(place, marked(before), marked(after), is_destructive)


def as_text(manifest: Any) -> str:
    """Return YAML, empty for None."""
    if manifest is None:
        return ""
    text = yaml.dump(manifest, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=10_000)
    return "".join(character if _is_visible(character) else _escape(character) for character in text)


def _is_visible(character: str) -> bool:
    """False for control characters and those that change the writing direction."""
    return character.isprintable() or character in "\n\t"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


class _Dumper(yaml.SafeDumper):
    """Writes multi-line strings as literal blocks, so that a diff shows the changed lines; no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def analyze_scalar(self, scalar: str) -> Any:
        """Allow literal blocks for lines with tabs or trailing blanks.

        Strings with invisible characters are double-quoted, so that these are escaped.
        """
        analysis = super().analyze_scalar(scalar)
        if not all(map(_is_visible, scalar)):
            analysis.allow_flow_plain = analysis.allow_block_plain = analysis.allow_single_quoted = False
        analysis.allow_block = _is_readable(scalar)
        return analysis


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if _is_readable(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_readable(text: str) -> bool:
    """True for a multi-line string that a terminal can print unchanged."""
    return "\n" in text and all(map(_is_visible, text))


_Dumper.add_representer(str, _represent_text)
