# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The instructions of a Dockerfile."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Dockerfile:
    """The instructions, each a name and its arguments on one line; each stage begins with FROM."""

    instructions: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, file: Path) -> Dockerfile:
        """The instructions of a file."""
        text = re.sub(r"^\s*#.*\n", "", file.read_text(), flags=re.MULTILINE)
        lines = re.sub(r"\\\n", " ", text).splitlines()
        words = (line.split(maxsplit=1) for line in lines if line.strip())
        return cls(tuple((name.upper(), rest.strip()) for name, rest in words))

    def all(self, name: str) -> list[str]:
        """The arguments of all instructions of a name."""
        return [text for instruction, text in self.instructions if instruction == name]

    @property
    def final(self) -> Dockerfile:
        """The stage that becomes the image."""
        begins = max(index for index, (name, _text) in enumerate(self.instructions) if name == "FROM")
        return Dockerfile(self.instructions[begins:])

    @property
    def environment(self) -> dict[str, str]:
        """The variables that are set, whatever they are before."""
        pairs = (pair for text in self.all("ENV") for pair in shlex.split(text))
        return dict(pair.split("=", 1) for pair in pairs)

    @property
    def entrypoint(self) -> list[str]:
        """The command; a ValueError where it is not in exec form."""
        words: list[str] = json.loads(self.all("ENTRYPOINT")[-1])
        return words
