# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Druid versions that the test bed can run, and what each is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass

KAFKA = "druid-kafka-indexing-service"
BASIC_SECURITY = "druid-basic-security"
MSQ = "druid-multi-stage-query"
DEFAULT = "33.0.0"
KAFKA_BROKER = "3.9.1"
# From this version on MSQ is no extension any more.
_MSQ_IN_CORE = 35
_EXTENSIONS = (KAFKA, BASIC_SECURITY, MSQ, "druid-datasketches", "druid-lookups-cached-global")


@dataclass(frozen=True)
class Artifact:
    """A jar by its Maven coordinates."""

    group: str
    name: str
    version: str


@dataclass(frozen=True)
class Version:
    """A release of Druid with the extensions that it is to have; each replaced artifact comes without dependencies."""

    release: str
    extensions: tuple[str, ...]
    replaced: tuple[Artifact, ...] = ()

    @property
    def major(self) -> int:
        """The number before the first dot."""
        return int(self.release.partition(".")[0])


# An agent of the JVM, which serves what its MBeans have.
JMX_EXPORTER = Artifact("io.prometheus.jmx", "jmx_prometheus_javaagent", "1.0.1")
KNOWN = {
    "33.0.0": Version("33.0.0", (KAFKA, "druid-datasketches")),
    # Before skipRestartIfUnmodified. One class of the replaced artifact is needed to start, any release of it will do.
    "27.0.0": Version(
        "27.0.0",
        (BASIC_SECURITY, MSQ),
        (Artifact("org.apache.druid", "druid-indexing-hadoop", "28.0.0"),),
    ),
}


def version(name: str = DEFAULT) -> Version:
    """The version of that release: one that is known, or else with every extension that there may be."""
    if name in KNOWN:
        return KNOWN[name]
    if not re.fullmatch(r"\d+\.\d+\.\d+", name):
        raise ValueError(f"Druid {name} is no release; name one like {' or '.join(KNOWN)}")
    found = Version(name, _EXTENSIONS)
    return Version(name, tuple(each for each in _EXTENSIONS if each != MSQ or found.major < _MSQ_IN_CORE))
