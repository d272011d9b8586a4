# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install the collection's part of the operator's image into a directory. Nothing is downloaded.

Usage: layout.py SOURCE DIRECTORY [--at DIRECTORY]

SOURCE contains the sources of the collection. DIRECTORY already has the other collections of requirements.yml in
`collections`; --at is its path at run time, if that is different. Run this with the Python that will run the
operator's playbooks: it must have the packages in base.txt.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from py_compile import PycInvalidationMode

import yaml

BUILD = Path(__file__).parent
OURS = Path("ansible_collections", "druidops", "druid")
# The files that ansible-operator reads in its working directory; the paths in watches.yaml are relative.
LINKS = ("watches.yaml", "playbooks")
PROGRAMS = {
    "ready": "ready.py",
    "release-lease": "release_lease.py",
}
# The package for runs, and the programs that run its modules: options of Python, module.
RUNNER = "runner"
PACKAGE = "druidops_runner"
OF_RUNNER = {
    "ansible-runner": (" -IS", "client"),
    "start": (" -IS", "start"),
    # its packages are those of the image
    "warm-runner": ("", "resident"),
}
_OF_RUNNER = """\
#!{python}{options}
import sys

sys.path.insert(0, __file__.rpartition("/")[0] + "/../lib")
from {package}.{module} import main

main()
"""
EVENTS = "ansible_runner.plugins"


def main() -> None:
    """Create the layout, or report the problems."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--at", type=Path)
    arguments = parser.parse_args()
    at = arguments.at or arguments.directory
    if found := [*wrong_packages(BUILD / "base.txt"), *wrong_collections(arguments.directory / "collections")]:
        sys.exit("\n".join(found))
    install_collection(arguments.source, arguments.directory / "collections")
    for name in LINKS:
        (arguments.directory / name).symlink_to(Path("collections") / OURS / name)
    write_settings(arguments.directory, at)
    write_programs(arguments.directory / "bin")
    compile_all(arguments.directory, at)
    protect(arguments.directory)


def pins(requirements: Path) -> dict[str, str]:
    """The versions that a requirements file pins, by name."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", requirements.read_text(encoding="utf-8"), re.MULTILINE))


def wrong_packages(requirements: Path) -> Iterator[str]:
    """The packages of this Python that differ from the file."""
    for name, pinned in pins(requirements).items():
        found = version_of(name)
        if found != pinned:
            yield f"{sys.executable} has {name} {found}, not {pinned} as in {requirements.name}"
    if not entry_points(group=EVENTS, name="http"):
        yield f"{sys.executable} has no ansible_runner_http, which reports the runs to ansible-operator"


def version_of(name: str) -> str | None:
    """The version of an installed package, None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def wrong_collections(collections: Path) -> Iterator[str]:
    """The collections that are missing or have another version."""
    for desired in yaml.safe_load((BUILD / "requirements.yml").read_text(encoding="utf-8"))["collections"]:
        manifest = collections.joinpath("ansible_collections", *desired["name"].split("."), "MANIFEST.json")
        installed = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else {}
        found = installed.get("collection_info", {}).get("version")
        if found != desired["version"]:
            yield f"{collections} has {desired['name']} {found}, not {desired['version']} as in requirements.yml"


def install_collection(source: Path, collections: Path) -> None:
    """Install the collection from a tarball, as its users do."""
    galaxy = [sys.executable, "-m", "ansible", "galaxy", "collection"]
    with tempfile.TemporaryDirectory() as scratch:
        # no user settings, and no collections from other paths
        environment = {"PATH": os.environ["PATH"], "HOME": scratch, "ANSIBLE_COLLECTIONS_PATH": str(collections)}
        build = [*galaxy, "build", str(source), "--output-path", scratch]
        subprocess.run(build, check=True, env=environment, stdout=subprocess.DEVNULL)
        (tarball,) = Path(scratch).glob("*.tar.gz")
        install = [*galaxy, "install", "--offline", "--no-deps", "--collections-path", str(collections), str(tarball)]
        subprocess.run(install, check=True, env=environment, stdout=subprocess.DEVNULL)


def write_settings(directory: Path, at: Path) -> None:
    """Write ansible.cfg with the path of the directory."""
    text = (BUILD / "ansible.cfg").read_text(encoding="utf-8")
    (directory / "ansible.cfg").write_text(text.replace("/opt/ansible", str(at)), encoding="utf-8")


def write_programs(directory: Path, python: str = sys.executable) -> Path:
    """Write the programs, which start Python as fast as possible, and their package beside; return the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    sources = {
        name: f"#!{python} -IS\n" + (BUILD / file).read_text(encoding="utf-8") for name, file in PROGRAMS.items()
    }
    for name, (options, module) in OF_RUNNER.items():
        sources[name] = _OF_RUNNER.format(python=python, options=options, package=PACKAGE, module=module)
    for name, source in sources.items():
        (directory / name).write_text(source, encoding="utf-8")
        (directory / name).chmod(0o755)
    package = directory.parent / "lib" / PACKAGE
    shutil.copytree(BUILD / RUNNER, package, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    return directory


def compile_all(directory: Path, at: Path) -> None:
    """Precompile the bytecode for a read-only file system. A changed file has an effect nevertheless."""
    mode = PycInvalidationMode.CHECKED_HASH
    compiled = compileall.compile_dir(
        directory, quiet=1, invalidation_mode=mode, stripdir=str(directory), prependdir=str(at)
    )
    if not compiled:
        sys.exit(f"some files in {directory} cannot be compiled")


def protect(directory: Path) -> None:
    """Make the files readable and read-only for all users."""
    subprocess.run(["chmod", "-R", "a+rX,a-w", str(directory)], check=True)


if __name__ == "__main__":
    main()
