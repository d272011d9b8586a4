# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""References to variables of the environment in a text, as Go's os.Expand finds them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$(?:\{([^}]*)\}|([A-Za-z_]\w*|[*#$@!?\-0-9]))", re.ASCII)


def expand(text: str, environment: Mapping[str, str]) -> str:
    """The text with their values; what is not set becomes ${NAME}."""

    def value(match: re.Match[str]) -> str:
        name = match[1] if match[1] is not None else match[2]
        return environment.get(name, f"${{{name}}}")

    return _REFERENCE.sub(value, text)
