# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who changes something, and why: headers from which Druid's audit history takes it."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.module_utils._errors import BadInput

_HEADERS = {"author": "X-Druid-Author", "comment": "X-Druid-Comment"}
Audit = dict[str, str]


def audit(author: str | None = None, comment: str | None = None) -> Audit:
    """Return the headers; BadInput for what a header of HTTP cannot say."""
    stated = {name: text for name, text in (("author", author), ("comment", comment)) if text}
    for name, text in stated.items():
        if not (text.isascii() and text.isprintable()):
            raise BadInput(name, text, "it travels in a header of HTTP: use printable characters of ASCII, on one line")
    return {_HEADERS[name]: text.strip() for name, text in stated.items()}
