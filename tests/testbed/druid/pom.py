# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Maven projects whose class paths Druid and Kafka run on."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

from .versions import JMX_EXPORTER, KAFKA_BROKER, Artifact, Version

DRUID = "org.apache.druid"
EXTENSIONS = "org.apache.druid.extensions"
_ANY = Artifact("*", "*", "")
# The first is on no repository that Maven knows; the second is large and only runs JavaScript functions.
_LEFT_OUT = (Artifact("org.hyperic", "sigar", ""), Artifact("org.graalvm.js", "*", ""))
# Repositories that poms of libraries add. Nothing that is used is only there, and not every machine may ask them.
_NOT_ASKED = ("sigar", "confluent", "cflt-public")
_NEVER = "<releases><enabled>false</enabled></releases><snapshots><enabled>false</enabled></snapshots>"
_REPOSITORIES = "".join(
    f"<repository><id>{name}</id><url>file:/nonexistent</url>{_NEVER}</repository>" for name in _NOT_ASKED
)


def druid_pom(version: Version) -> str:
    """The text of a pom.xml for Druid's servers with the version's extensions."""
    services = Artifact(DRUID, "druid-services", version.release)
    return _pom(
        [
            _dependency(services, (*_LEFT_OUT, *version.replaced)),
            *(_dependency(each, (_ANY,)) for each in version.replaced),
            *(_dependency(Artifact(EXTENSIONS, name, version.release)) for name in version.extensions),
        ],
        # What Druid was built with; the dependencies alone would bring other versions along.
        managed=_dependency(Artifact(DRUID, "druid", version.release), kind="<type>pom</type><scope>import</scope>"),
    )


def kafka_pom() -> str:
    """The text of a pom.xml for a Kafka broker."""
    broker = Artifact("org.apache.kafka", "kafka_2.13", KAFKA_BROKER)
    return _pom([_dependency(broker), _dependency(Artifact("org.slf4j", "slf4j-simple", "1.7.36"))])


def jmx_exporter_pom() -> str:
    """The text of a pom.xml for the JMX exporter of Prometheus, which has no dependencies."""
    return _pom([_dependency(JMX_EXPORTER)])


def _pom(dependencies: Iterable[str], managed: str = "") -> str:
    return f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>testbed</groupId><artifactId>testbed</artifactId><version>1</version><packaging>pom</packaging>
<repositories>{_REPOSITORIES}</repositories>
<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>
<dependencies>
{"".join(f"{each}{chr(10)}" for each in dependencies)}</dependencies>
</project>
"""


def _dependency(artifact: Artifact, excluded: Iterable[Artifact] = (), kind: str = "") -> str:
    exclusions = "".join(f"<exclusion>{_name(each)}</exclusion>" for each in excluded)
    version = f"<version>{escape(artifact.version)}</version>"
    return f"<dependency>{_name(artifact)}{version}{kind}<exclusions>{exclusions}</exclusions></dependency>"


def _name(artifact: Artifact) -> str:
    return f"<groupId>{escape(artifact.group)}</groupId><artifactId>{escape(artifact.name)}</artifactId>"
