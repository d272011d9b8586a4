# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The request of a client, as the process of a run reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from . import message


class Request(NamedTuple):
    """Arguments without the program's name, working directory and environment, as the operating system has them."""

    arguments: Sequence[bytes]
    directory: bytes
    environment: Mapping[bytes, bytes]


def decode(data: bytes) -> Request:
    """The request of a whole message. ValueError or IndexError for another one."""
    number, *parts = data[message.LENGTH :].split(message.END)[:-1]
    count = int(number)
    variables = (part.partition(b"=") for part in parts[count + 1 :])
    return Request(parts[:count], parts[count], {name: value for name, _equals, value in variables})
