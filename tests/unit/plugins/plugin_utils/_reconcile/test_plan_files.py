# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of a plan: what they have, and that they are never about another run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan_files import problem_of, remove, write

PLACE = {"name": "c", "namespace": "ns", "context": "production", "server": "https://203.0.113.7"}
HEADERS = {"before_header": "ConfigMap ns/m", "after_header": "ConfigMap ns/m"}
CHANGED = {
    **PLACE,
    "changed": True,
    "destructive": True,
    "plan": ["update ConfigMap m", "delete PersistentVolumeClaim p (destructive)"],
    "warnings": ["Beware."],
    "msg": "Destructive changes.",
    "failed": True,
    "conditions": [{"type": "Ready", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
    "diff": [
        {**HEADERS, "before": "a: 1\nb: 2\n", "after": "a: 1\n"},
        {"before_header": "supervisor s", "after_header": "supervisor s", "before": "", "after": {"b": 1, "a": 2}},
        {"prepared": "stop 1 pod\n"},
    ],
}
MARKDOWN = """\
Druid `c`, namespace `ns`, context `production`, server `https://203.0.113.7`

**Planned**: This is destructive.

```text
update ConfigMap m
delete PersistentVolumeClaim p (destructive)
```

Failed:

```text
Destructive changes.
```

Warnings:

```text
Beware.
```

<details><summary>Diff</summary>

```diff
--- before: ConfigMap ns/m
+++ after: ConfigMap ns/m
@@ -1,2 +1 @@
 a: 1
-b: 2
--- before: supervisor s
+++ after: supervisor s
@@ -0,0 +1,4 @@
+{
+  "a": 2,
+  "b": 1
+}
stop 1 pod
```

</details>
"""


def written(directory: Path, returned: dict[str, Any], check_mode: bool = True) -> tuple[dict[str, Any], str]:
    """Return the JSON and the Markdown of a result."""
    files = [directory / "plan.json", directory / "plan.md"]
    assert write(map(str, files), "Druid", returned, check_mode) == ""
    document, text = (file.read_text(encoding="utf-8") for file in files)
    return json.loads(document), text


def test_json_begins_with_what_it_is_about_and_has_no_times(tmp_path: Path) -> None:
    document, _text = written(tmp_path, CHANGED)
    assert [*document][:5] == ["kind", "name", "namespace", "context", "server"]
    fields = ("changed", "destructive", "plan", "warnings", "diff", "msg", "failed")
    expected = {name: CHANGED[name] for name in (*PLACE, *fields)}
    assert document == {"kind": "Druid", "check_mode": True, **expected}


def test_markdown(tmp_path: Path) -> None:
    assert written(tmp_path, CHANGED)[1] == MARKDOWN


def test_nothing_to_change(tmp_path: Path) -> None:
    document, text = written(tmp_path, {**PLACE, "context": "", "changed": False, "plan": [], "diff": []}, False)
    assert (document["changed"], document["destructive"], document["msg"]) == (False, False, "")
    assert text == "Druid `c`, namespace `ns`, server `https://203.0.113.7`\n\nNothing to change.\n"


def test_a_plan_that_failed_is_not_one_without_changes(tmp_path: Path) -> None:
    _document, text = written(tmp_path, {**PLACE, "failed": True, "msg": "No rights.", "plan": [], "diff": []})
    assert text.splitlines()[2:] == ["Failed:", "", "```text", "No rights.", "```"]


def test_what_others_have_written_stays_in_its_block(tmp_path: Path) -> None:
    """An image, for example, is any text of the author of a pull request."""
    author = "image: a -> b\n```\n@team <img src=https://example.com> [x](https://example.com)\n````"
    _document, text = written(tmp_path, {**PLACE, "plan": [author], "diff": []})
    assert text.endswith(f"\n`````text\n{author}\n`````\n")
    _document, text = written(tmp_path, {**PLACE, "context": "a` <b>", "plan": [], "diff": []})
    assert "context `a <b>`," in text


def test_a_name_has_a_known_end_and_a_directory_that_exists(tmp_path: Path) -> None:
    assert problem_of([str(tmp_path / "plan.json"), "plan.md"]) == ""
    assert problem_of(["plan.txt"]) == "plan_files: the name plan.txt must end in .json or .md."
    for path in (tmp_path / "none" / "plan.md", tmp_path / "d.md"):
        (tmp_path / "d.md").mkdir(exist_ok=True)
        assert problem_of([str(path)]) == f"plan_files: {path} cannot be written."


def test_files_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    old = tmp_path / "plan.json"
    old.write_text("{}", encoding="utf-8")
    assert remove([str(old), str(tmp_path / "plan.md")]) == ""
    assert not old.exists()


@pytest.mark.parametrize("act", [remove, lambda paths: write(paths, "Druid", {**PLACE, "diff": []}, True)])
def test_error_names_the_file(act: Any, tmp_path: Path) -> None:
    directory = tmp_path / "plan.json"
    directory.mkdir()
    assert act([str(directory)]) == f"plan_files: {directory} cannot be written: Is a directory."
