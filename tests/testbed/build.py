# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds programs from Go modules, once per machine: those of a Kubernetes version, and tools for the tests."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .cache import cache_directory, lock
from .processes import die_with_parent
from .progress import say, wait
from .versions import MODULES, Version, version

_SOURCES = MODULES / "program"
# No debugging data: the compiler's cache takes 2.4 GB with these flags and 4 GB without.
_FLAGS = ("-trimpath", "-tags", "grpcnotrace", "-gcflags", "all=-dwarf=false")


class BuildError(RuntimeError):
    """A program could not be built."""


@dataclass(frozen=True)
class Programs:
    """The built programs; both paths are the same where one program holds all components."""

    kubernetes: Path
    kwok: Path


@dataclass(frozen=True)
class _Program:
    name: str
    module: Path
    sources: tuple[str, ...]
    release: str | None
    minutes: int
    # the module's own, or one of a module that it requires
    package: str = "."
    tags: tuple[str, ...] = ()
    needs_c: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(",".join([flag, *self.tags]) if flag == "grpcnotrace" else flag for flag in _FLAGS)

    @property
    def files(self) -> list[Path]:
        own = [self.module / "go.mod", self.module / "go.sum", *sorted(self.module.glob("*.go"))]
        return [*own, *(_SOURCES / name for name in self.sources)]


def build(kubernetes: Version) -> Programs:
    """The programs of this version, from the cache or built now."""
    base = ("main.go", "command.go", "kubernetes.go", "kubectl.go", "certificates.go")
    name = f"kubernetes-{kubernetes.release}"
    if kubernetes.includes_kwok:
        both = _built(_Program(name, kubernetes.module, (*base, "kwok.go"), kubernetes.release, 7))
        return Programs(both, both)
    return Programs(
        _built(_Program(name, kubernetes.module, base, kubernetes.release, 6)),
        _built(_Program("kwok", MODULES / "kwok", ("main.go", "kwok.go"), None, 3)),
    )


def build_node() -> Path:
    """The programs of a real node of the default version, which share most packages with those of the control plane."""
    files = ("main.go", "command.go", "node.go")
    return _built(_Program("node", MODULES / "node", files, version().release, 2))


def build_tool(
    name: str,
    module: Path,
    package: str = ".",
    *,
    minutes: int,
    tags: tuple[str, ...] = (),
    needs_c: bool = False,
) -> Path:
    """The program of a main package, of the version in the go.mod of the directory `module`: from the cache, or built.

    package: one of a module that it requires, such as helm.sh/helm/v3/cmd/helm, or what lies in the directory itself.
    minutes: how long that takes at most on two cores. tags: more of those that choose what is built in.
    needs_c: parts of it are in C, so that a C compiler has to be there.
    """
    return _built(_Program(name, module, (), None, minutes, package, tags, needs_c))


def _built(program: _Program) -> Path:
    target = cache_directory() / f"{program.name}-{_key(program)}"
    if target.exists():
        return target
    with lock(target):
        if not target.exists():
            _compile(program, target)
    return target


def _key(program: _Program) -> str:
    compiler = _go("env", "GOVERSION", "GOOS", "GOARCH", cwd=program.module)
    digest = hashlib.sha256(repr((compiler, program.flags)).encode())
    for file in program.files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _go(*arguments: str, cwd: Path) -> str:
    try:
        return subprocess.run(["go", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise BuildError("the test bed is built by Go: install Go 1.26 or newer and put it on the PATH") from None
    except subprocess.CalledProcessError as error:
        raise BuildError(f"go {' '.join(arguments)} failed: {error.stderr}") from error


def _compile(program: _Program, target: Path) -> None:
    say(f"building {program.name} from Go modules: up to {program.minutes} minutes on two cores, once per machine")
    workspace = Path(f"{target}.build")
    # one may be left of a build that was killed
    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir()
    for file in program.files:
        shutil.copy(file, workspace)
    _run(program, workspace)
    (workspace / "program").rename(target)
    shutil.rmtree(workspace)
    say(f"built {target}")


def _command(program: _Program) -> list[str]:
    flags = " ".join(["-s", "-w", *_stamps(program.release)])
    return ["go", "build", *program.flags, "-ldflags", flags, "-o", "program", program.package]


def _stamps(release: str | None) -> list[str]:
    """Linker flags without which the server calls itself v0.0.0-master."""
    if release is None:
        return []
    major, minor, _patch = release.removeprefix("v").split(".")
    values = {
        "gitVersion": release,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "gitCommit": "unknown",
        "buildDate": "1970-01-01T00:00:00Z",
    }
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return [f"-X {package}.{name}={value}" for package in packages for name, value in values.items()]


def _run(program: _Program, directory: Path) -> None:
    log = directory / "build.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            _command(program),
            cwd=directory,
            stdout=output,
            stderr=output,
            env={**os.environ, "CGO_ENABLED": str(int(program.needs_c))},
            preexec_fn=die_with_parent(),  # noqa: PLW1509 - calls two functions of libc
        )
        status = wait(process, f"building {program.name}")
    if status != 0:
        raise BuildError(
            f"go build of {program.name} failed ({status}); the end of its output:\n{log.read_text()[-3000:]}"
        )
