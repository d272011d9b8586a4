# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The author and the comment of a change, as headers for Druid's audit history."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput

_HEADERS = {"author": "X-Druid-Author", "comment": "X-Druid-Comment"}
Audit = dict[str, str]


def audit(author: str | None = None, comment: str | None = None) -> Audit:
    """Return the headers. InvalidInput for values that an HTTP header cannot contain."""
    specified = {name: text for name, text in (("author", author), ("comment", comment)) if text}
    for name, text in specified.items():
        if not (text.isascii() and text.isprintable()):
            raise InvalidInput(name, text, "it is sent as an HTTP header; use printable ASCII characters on one line")
    return {_HEADERS[name]: text.strip() for name, text in specified.items()}
