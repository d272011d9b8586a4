# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of a workload, and the version of Druid in its tag."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_VERSION = re.compile(r"v?([0-9]{1,6}(?:\.[0-9]{1,6})*)(?![0-9])")


def main_image(workload: Mapping[str, Any]) -> str:
    """Return the image of the main container, which has the name of its workload."""
    containers = workload["spec"]["template"]["spec"]["containers"]
    named = (each for each in containers if each["name"] == workload["metadata"]["name"])
    return str(next(named, containers[0]).get("image") or "")


def tag(image: str) -> str:
    """Return the tag of the image, empty if it has none."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def digest(image: str) -> str:
    """Return the hexadecimal digits of the digest, empty if it has none."""
    return image.partition("@")[2].partition(":")[2]


def version(image: str) -> tuple[int, ...] | None:
    """Return the numbers at the start of the tag without trailing zeros; None if the tag is not a version."""
    found = _VERSION.match(tag(image))
    if found is None:
        return None
    numbers = [int(part) for part in found[1].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
