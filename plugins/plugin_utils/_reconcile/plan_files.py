# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a task as files of a pipeline: JSON for programs, Markdown for people.

Both are of the result of the task, whose texts are masked. No time of the run is in
them, so that the same plan is the same file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

# The fields of a result, after those that say what the plan is about, with the values of a result without them.
_FIELDS: Mapping[str, Any] = {
    "changed": False,
    "destructive": False,
    "failed": False,
    "msg": "",
    "plan": [],
    "warnings": [],
    "diff": [],
}


def problem_of(paths: Iterable[str]) -> str:
    """Return why a plan cannot be written to these files; empty if it can, as far as that is known before."""
    for path in map(Path, paths):
        if path.suffix not in _FORMATS:
            return f"plan_files: the name {path.name} must end in {' or '.join(_FORMATS)}."
        if not os.access(path.parent, os.W_OK | os.X_OK) or path.is_dir():
            return f"plan_files: {path} cannot be written."
    return ""


def remove(paths: Iterable[str]) -> str:
    """Remove the files of an earlier run, which are not about this one; return the error, or an empty text."""
    return _tried(paths, lambda path: path.unlink(missing_ok=True))


def write(paths: Iterable[str], kind: str, returned: Mapping[str, Any], check_mode: bool) -> str:
    """Write the result of a task that has a plan; return the error, or an empty text."""
    document = {
        "kind": kind,
        **{name: returned.get(name, "") for name in ("name", "namespace", "context", "server")},
        "check_mode": check_mode,
        **{name: returned.get(name, default) for name, default in _FIELDS.items()},
    }
    texts = {suffix: form(document) for suffix, form in _FORMATS.items()}
    return _tried(paths, lambda path: path.write_text(texts[path.suffix], encoding="utf-8", errors="backslashreplace"))


def _tried(paths: Iterable[str], act: Callable[[Path], object]) -> str:
    try:
        for path in paths:
            act(Path(path))
    except OSError as error:
        return f"plan_files: {error.filename} cannot be written: {error.strerror}."
    return ""


def as_json(document: Mapping[str, Any]) -> str:
    """Return the document as JSON."""
    return f"{json.dumps(document, indent=2)}\n"


def as_markdown(document: Mapping[str, Any]) -> str:
    """Return the document as Markdown. What others have written is in code blocks, where it is only text."""
    changes = "This is destructive." if document["destructive"] else ""
    parts = [
        title_of(document, lambda text: f"`{text.replace('`', '')}`"),
        " ".join(filter(None, (_summary(document), changes))),
        _code("text", document["plan"]),
        *(("Failed:", _code("text", [document["msg"]])) if document["msg"] else ()),
        *(("Warnings:", _code("text", document["warnings"])) if document["warnings"] else ()),
    ]
    lines = [line for difference in document["diff"] for line in _difference(difference)]
    if lines:
        parts += ["<details><summary>Diff</summary>", _code("diff", lines), "</details>"]
    return "\n\n".join(filter(None, parts)) + "\n"


def title_of(document: Mapping[str, Any], shown: Callable[[str], str] = str) -> str:
    """Return what the plan is about, in one line: the resource, and where it is."""
    places = (f"{name} {shown(document[name])}" for name in ("namespace", "context", "server") if document[name])
    return ", ".join((f"{document['kind']} {shown(document['name'])}", *places))


def _summary(document: Mapping[str, Any]) -> str:
    if not document["plan"]:
        return "" if document["failed"] else "Nothing to change."
    return "**Planned**:" if document["check_mode"] else "**Done**:"


def _code(language: str, lines: Sequence[str]) -> str:
    """Return a code block, which nothing in its lines can end."""
    if not lines:
        return ""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _difference(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a diff, as Ansible prints it."""
    if "prepared" in entry:
        yield from entry["prepared"].splitlines()
        return
    before, after = (_text(entry[name]).splitlines() for name in ("before", "after"))
    headers = f"before: {entry['before_header']}", f"after: {entry['after_header']}"
    yield from unified_diff(before, after, *headers, lineterm="")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, sort_keys=True)


_FORMATS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {".json": as_json, ".md": as_markdown}
