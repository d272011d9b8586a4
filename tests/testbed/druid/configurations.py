# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways to secure Druid that the test bed can set up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Configuration:
    """The authentication and encryption of a Druid."""

    name: str
    basic_security: bool = False
    tls: bool = False
    client_certificate: bool = False

    @property
    def scheme(self) -> str:
        """The scheme of all URLs."""
        return "https" if self.tls else "http"


CONFIGURATIONS = {
    each.name: each
    for each in (
        Configuration("open"),
        Configuration("basic", basic_security=True),
        Configuration("tls", tls=True),
        Configuration("mutual-tls", tls=True, client_certificate=True),
    )
}


def configuration(name: str) -> Configuration:
    """The configuration of that name."""
    if name not in CONFIGURATIONS:
        raise ValueError(f"no configuration is called {name}; choose one of {', '.join(CONFIGURATIONS)}")
    return CONFIGURATIONS[name]
