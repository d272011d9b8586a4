# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gets the jars of Druid and Kafka by Maven and compiles the launcher, once per machine."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from ..build import BuildError
from ..cache import cache_directory, lock
from ..processes import die_with_parent
from ..progress import say, wait
from .pom import EXTENSIONS, druid_pom, jmx_exporter_pom, kafka_pom
from .versions import JMX_EXPORTER, KAFKA_BROKER, Version

LAUNCHER = Path(__file__).parent / "launcher"
# From this version on Druid's servers no longer share filters.
_SEPARATE_FILTERS = 34
_CLASS_PATH_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
# Each run of Maven that fails names all the artifacts that it lacks.
_MOST_ATTEMPTS = 3
_RESULT = "class-path.json"

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Artifacts:
    """Class paths of Druid (with the launcher) and Kafka, and the extensions that could not be had."""

    druid: str
    kafka: str
    missing: tuple[str, ...]


@dataclass(frozen=True)
class _ClassPath:
    """As -cp wants it, and the extensions that are not in it."""

    jars: str
    missing: Sequence[str] = ()


class _Unresolved(BuildError):
    def __init__(self, what: str, output: str) -> None:
        super().__init__(f"Maven could not get {what}; the end of its output:\n{output[-3000:]}")
        self.output = output


def build(version: Version) -> Artifacts:
    """All that a start of this version needs, from the cache or made now; loud about extensions that are missing."""
    compiler = subprocess.run([java("javac"), "-version"], capture_output=True, text=True, check=True).stdout
    druid = _druid(version)
    for name in druid.missing:
        say(f"druid {version.release}: no {name}, because Maven finds none: what needs it is not there")
    launcher = _launcher(version, druid.jars, compiler)
    return Artifacts(f"{launcher}{os.pathsep}{druid.jars}", _kafka().jars, tuple(druid.missing))


def jmx_exporter() -> Path:
    """The jar of the agent that serves the metrics of a JVM to Prometheus."""
    what, pom = f"{JMX_EXPORTER.name} {JMX_EXPORTER.version}", jmx_exporter_pom()
    found = _kept(what.replace(" ", "-"), pom, _class_path, partial(_make_class_path, what, pom, ()))
    return Path(found.jars)


def java(program: str = "java") -> str:
    """The path of a program of the JDK."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(program, path=home and str(Path(home) / "bin")) or shutil.which(program)
    if found is None:
        raise BuildError(f"Druid runs on Java, and there is no {program}: install a JDK 17 or newer")
    return found


def unresolved_extensions(output: str, version: Version) -> tuple[str, ...]:
    """The version's extensions that no repository has, by Maven's output; none if it reports other problems too."""
    errors = [line for line in output.splitlines() if "Could not resolve dependencies" in line]
    named = {tuple(each) for line in errors for each in re.findall(r"([\w.-]+):([\w.-]+):jar:[\w.-]+", line)}
    required = {(EXTENSIONS, name) for name in version.extensions}
    if not named <= required or "Could not transfer" in output:
        return ()
    return tuple(name for name in version.extensions if (EXTENSIONS, name) in named)


def _kept(name: str, inputs: str, usable: Callable[[Path], Kept | None], make: Callable[[Path], None]) -> Kept:
    """What was made before from these inputs, else what is made now."""
    target = cache_directory() / f"{name}-{hashlib.sha256(inputs.encode()).hexdigest()[:12]}"
    if (found := usable(target)) is not None:
        return found
    with lock(target):
        if (found := usable(target)) is None:
            workspace = Path(f"{target}.build")
            for leftover in (workspace, target):
                shutil.rmtree(leftover, ignore_errors=True)
            workspace.mkdir()
            make(workspace)
            workspace.rename(target)
            found = usable(target)
    if found is None:
        raise BuildError(f"{target} was changed by somebody else; run it again")
    return found


def _druid(version: Version) -> _ClassPath:
    return _kept(f"druid-{version.release}", druid_pom(version), _class_path, partial(_make_druid, version))


def _kafka() -> _ClassPath:
    what = f"Kafka {KAFKA_BROKER}"
    return _kept(f"kafka-{KAFKA_BROKER}", kafka_pom(), _class_path, partial(_make_class_path, what, kafka_pom(), ()))


def _class_path(target: Path) -> _ClassPath | None:
    """The content, unless Maven's own repository was cleared since."""
    try:
        found = _ClassPath(**json.loads((target / _RESULT).read_text()))
    except FileNotFoundError:
        return None
    return found if all(map(os.path.exists, found.jars.split(os.pathsep))) else None


def _make_druid(version: Version, workspace: Path) -> None:
    """Leave out the extensions that cannot be had."""
    there_are = version.extensions
    for attempt in range(1, _MOST_ATTEMPTS + 1):
        missing = tuple(name for name in version.extensions if name not in there_are)
        try:
            pom = druid_pom(replace(version, extensions=there_are))
            _make_class_path(f"Druid {version.release}", pom, missing, workspace)
            return
        except _Unresolved as error:
            unresolved = unresolved_extensions(error.output, version)
            if not unresolved or attempt == _MOST_ATTEMPTS:
                raise
            there_are = tuple(name for name in there_are if name not in unresolved)


def _make_class_path(what: str, pom: str, missing: tuple[str, ...], workspace: Path) -> None:
    say(f"getting {what} by Maven: a minute or two, once per machine")
    (workspace / "pom.xml").write_text(pom)
    maven = shutil.which("mvn")
    if maven is None:
        raise BuildError("Druid and Kafka are got by Maven, and there is no mvn: install Maven 3.8 or newer")
    arguments = ["--batch-mode", "--no-transfer-progress", "--file", "pom.xml", _CLASS_PATH_GOAL]
    output = workspace / "maven.log"
    if _run([maven, *arguments, "-Dmdep.outputFile=class-path"], workspace, output, f"getting {what}") != 0:
        raise _Unresolved(what, output.read_text())
    found = _ClassPath((workspace / "class-path").read_text().strip(), missing)
    (workspace / _RESULT).write_text(json.dumps(asdict(found)))


def _launcher(version: Version, jars: str, compiler: str) -> Path:
    sources = _sources(version)
    inputs = "".join((compiler, jars, *(file.read_text() for file in sources)))
    return _kept("druid-launcher", inputs, _directory, partial(_compile, sources, jars))


def _directory(target: Path) -> Path | None:
    return target if target.is_dir() else None


def _sources(version: Version) -> list[Path]:
    filters = "since-34" if version.major >= _SEPARATE_FILTERS else "before-34"
    return sorted([*LAUNCHER.glob("*.java"), *(LAUNCHER / filters).glob("*.java")])


def _compile(sources: Sequence[Path], jars: str, classes: Path) -> None:
    command = [java("javac"), "-proc:none", "-d", str(classes), "-cp", jars, *map(str, sources)]
    output = classes / "javac.log"
    if _run(command, classes, output, "compiling the launcher") != 0:
        raise BuildError(f"javac failed; the end of its output:\n{output.read_text()[-3000:]}")
    # Druid finds its modules by these names.
    services = classes / "META-INF" / "services"
    services.mkdir(parents=True)
    (services / "org.apache.druid.initialization.DruidModule").write_text("ClientTls\n")


def _run(command: Sequence[str], directory: Path, log: Path, what: str) -> int:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=die_with_parent(),  # noqa: PLW1509 - calls two functions of libc
        )
        return wait(process, what)
