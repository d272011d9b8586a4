# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of Debian packages that are installed here and of their dependencies, as a layer of an image."""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..requirements import NodeError

_FIELDS = ("Package", "Architecture", "Version", "Provides", "Pre-Depends", "Depends", "db:Status-Status")
# They serve installation alone.
_NOT_NEEDED = {"adduser", "debconf", "dpkg", "init-system-helpers", "perl-base", "perl", "ucf"}
_LEFT_OUT = re.compile(r"/usr/share/(doc|man|info|lintian|bug|locale|icons|menu|applications)(/|$)|/var/lib/dpkg(/|$)")
# What the packages' scripts made when they were installed.
_CREATED = (
    *("/bin", "/sbin", "/lib", "/lib64"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/nsswitch.conf"),
    *("/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs/java/cacerts"),
)
_ALTERNATIVES = Path("/etc/alternatives")
_EMPTY = {"tmp": 0o1777, "var/tmp": 0o1777, "proc": 0o755, "sys": 0o755, "dev": 0o755, "run": 0o755, "root": 0o700}


@dataclass(frozen=True)
class Package:
    """An installed package: `needs` has for each dependency the names of packages that would do."""

    name: str
    architecture: str
    version: str
    provides: tuple[str, ...]
    needs: tuple[tuple[str, ...], ...]


def installed() -> dict[str, Package]:
    """The installed packages, by their name and by what they provide."""
    form = "\t".join(f"${{{field}}}" for field in _FIELDS) + "\n"
    found: dict[str, Package] = {}
    for line in _dpkg("--show", f"--showformat={form}").splitlines():
        name, architecture, version, provides, before, needs, status = line.split("\t")
        if status == "installed":
            alternatives = (*_dependencies(before), *_dependencies(needs))
            others = tuple(each for names in _dependencies(provides) for each in names)
            found[name] = Package(name, architecture, version, others, alternatives)
    virtual = {other: package for package in found.values() for other in package.provides}
    return {**virtual, **found}


def closure(names: Iterable[str], known: Mapping[str, Package]) -> list[Package]:
    """The packages of these names and what they depend on, as far as it is installed."""
    found: dict[str, Package] = {}
    waiting = list(names)
    while waiting:
        package = known.get(waiting.pop())
        if package is None or package.name in found or package.name in _NOT_NEEDED:
            continue
        found[package.name] = package
        waiting += [name for names in package.needs for name in _first_known(names, known)]
    return sorted(found.values(), key=lambda package: package.name)


def package_of(path: Path) -> str:
    """The package that a file is of."""
    try:
        return _dpkg("--search", str(path)).split(":")[0]
    except NodeError:
        raise NodeError(f"{path} is of no Debian package, and the image of Druid is made of packages") from None


def write_layer(packages: Iterable[Package], target: Path) -> None:
    """Write the files of the packages as a tar file."""
    paths = set(_with_parents(_files(packages)))
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as layer:
        for path in sorted(paths):
            layer.add(path, path.lstrip("/"), recursive=False, filter=_without_names)
        for name, mode in _EMPTY.items():
            if f"/{name}" not in paths:
                entry = tarfile.TarInfo(name)
                entry.type, entry.mode = tarfile.DIRTYPE, mode
                layer.addfile(entry)


def _dependencies(text: str) -> Iterator[tuple[str, ...]]:
    """The names in a field like `a (>= 1) | b, c:any`."""
    for each in filter(None, map(str.strip, text.split(","))):
        yield tuple(re.split(r"[\s(:]", name.strip())[0] for name in each.split("|"))


def _first_known(names: Iterable[str], known: Mapping[str, Package]) -> list[str]:
    return [name for name in names if name in known][:1]


def _files(packages: Iterable[Package]) -> Iterator[str]:
    names = [f"{package.name}:{package.architecture}".removesuffix(":all") for package in packages]
    listed = set(_dpkg("--listfiles", *names).splitlines())
    paths = {_in_merged_usr(path) for path in listed if path.startswith("/") and path != "/." and os.path.lexists(path)}
    yield from (path for path in paths if not _LEFT_OUT.match(path))
    yield from filter(os.path.lexists, _CREATED)
    for link in _ALTERNATIVES.iterdir():
        if link.is_symlink() and _in_merged_usr(os.readlink(link)) in paths:
            yield str(link)
            yield from (path for path in (f"/usr/bin/{link.name}", f"/usr/sbin/{link.name}") if os.path.islink(path))


def _in_merged_usr(path: str) -> str:
    """The path without links to directories: /bin is one."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _with_parents(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield path
        yield from (str(parent) for parent in Path(path).parents if str(parent) != "/")


def _without_names(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uname = entry.gname = ""
    return entry


def _dpkg(*arguments: str) -> str:
    try:
        return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise NodeError(f"images are made of Debian packages: {error}") from error
