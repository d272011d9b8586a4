# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw docs/rollout.svg: the plan and the rollout of another image, as a terminal shows them, in the running demo.

Usage: python -m tools.docs.rollout DIRECTORY   (run by `make picture` after `make demo`; DIRECTORY is the demo's)

The lines are output of the commands above them: of the playbook, those about restarts and progress.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

PICTURE = Path("docs/rollout.svg")
SAMPLE = Path("config/samples/one-node.yaml")
# The two tags are the same image, which the demo has.
BEFORE, AFTER = "apache/druid:33.0.0", "apache/druid:33.0.0-rebuilt"
NAMESPACE = "druid-demo"
RECONCILE = (
    "ansible-playbook druidops.druid.cluster -e druid_cluster_resource=$PWD/druid.yaml "
    f"-e druid_cluster_namespace={NAMESPACE}"
)
PREVIEW = f"{RECONCILE} --check --diff"
APPLY = f"{RECONCILE} -e druid_cluster_wait=true"
GET = f"kubectl get druids --namespace {NAMESPACE}"
FONT, LINE, COLUMN, MARGIN = 14, 20, 8.43, 16
COMMAND, TEXT = "#9ece6a", "#c0caf5"


def main() -> None:
    """Record a rollout of the demo's cluster, and draw it."""
    demo = Path(sys.argv[1])
    write(demo, BEFORE)
    run(demo, APPLY)
    write(demo, AFTER)
    # the debug task folds long lines, the diff does not
    restarts = sorted({line for line in run(demo, PREVIEW).splitlines() if re.match(r"restart \d+: ", line)})
    progress = re.findall(r"^one-node: (.*)$", run(demo, APPLY), re.MULTILINE)
    lines = [f"$ {PREVIEW}", *restarts, "", f"$ {APPLY}", *progress, "", f"$ {GET}", *run(demo, GET).splitlines()]
    PICTURE.write_text(picture(lines), encoding="utf-8")


def write(demo: Path, image: str) -> None:
    """Write the sample with an image."""
    (demo / "druid.yaml").write_text(SAMPLE.read_text(encoding="utf-8").replace(BEFORE, image), encoding="utf-8")


def run(demo: Path, command: str) -> str:
    """Return what a command prints in the environment of the demo; an error if it fails."""
    script = ["bash", "-euc", f". {demo}/environment; {command}"]
    pipe, errors = subprocess.PIPE, subprocess.STDOUT
    return subprocess.run(script, cwd=demo, stdout=pipe, stderr=errors, encoding="utf-8", check=True).stdout


def picture(lines: Sequence[str]) -> str:
    """Return the lines as an SVG that looks like a terminal."""
    width = round(max(map(len, lines)) * COLUMN) + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    texts = (
        f'<text x="{MARGIN}" y="{MARGIN + FONT + number * LINE}" fill="{color}">{escape(line)}</text>\n'
        for number, line in enumerate(lines)
        for color in [COMMAND if line.startswith("$ ") else TEXT]
        if line
    )
    return (
        "<!--\nCopyright (c) 2026, druidops contributors\n"
        "GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)\n"
        # REUSE-IgnoreStart
        "SPDX-License-Identifier: GPL-3.0-or-later\nDrawn by `make picture`.\n-->\n"
        # REUSE-IgnoreEnd
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{FONT}" xml:space="preserve">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#1a1b26"/>\n{"".join(texts)}</svg>\n'
    )


if __name__ == "__main__":
    main()
