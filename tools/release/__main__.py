# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make the files of a release in DIRECTORY, which is replaced.

Usage: python -m tools.release DIRECTORY COLLECTION [--image NAME] [--key FILE]

COLLECTION is the tarball. The image is that of the manifests and of the chart. With the private key (PEM), the
checksums are signed. kubectl and helm are those of the tests, which are built if they are not in the cache.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from testbed.clients import helm, kubectl

from tools.release.sbom import sbom

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "druid-operator"
# The directory of config that each file is made of.
MANIFESTS = {"install.yaml": "default", "install-namespaced.yaml": "namespaced"}
IMAGE = "quay.io/druidops/druid-operator"
CHECKSUMS = "SHA256SUMS"


def main() -> None:
    """Make the files, and print their names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--image", default="", help=f"default: {IMAGE} with the version as its tag")
    parser.add_argument("--key", type=Path)
    arguments = parser.parse_args()
    version = yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["version"]
    repository, _colon, tag = (arguments.image or f"{IMAGE}:{version}").rpartition(":")
    if not repository or "/" in tag:
        sys.exit(f"{arguments.image} has no tag.")
    if arguments.directory.is_dir() and (others := not_ours(arguments.directory)):
        sys.exit(f"{arguments.directory} has other files than those of a release: {', '.join(others)}.")
    shutil.rmtree(arguments.directory, ignore_errors=True)
    arguments.directory.mkdir(parents=True)
    shutil.copy2(arguments.collection, arguments.directory)
    make_manifests(arguments.directory, version, f"{repository}:{tag}")
    make_chart(arguments.directory, repository, tag, is_default=not arguments.image)
    document = json.dumps(sbom(ROOT, version, f"{repository}:{tag}"), indent=2)
    (arguments.directory / "sbom.cdx.json").write_text(f"{document}\n", encoding="utf-8")
    make_checksums(arguments.directory)
    if arguments.key:
        sign(arguments.directory / CHECKSUMS, arguments.key)
    print("\n".join(str(file) for file in sorted(arguments.directory.iterdir())))


def not_ours(directory: Path) -> list[str]:
    """Return what is in the directory, and is not removed: it may be the wrong directory."""
    checksums = directory / CHECKSUMS
    lines = checksums.read_text(encoding="utf-8").splitlines() if checksums.is_file() else []
    ours = {line.partition("  ")[2] for line in lines} | {CHECKSUMS, f"{CHECKSUMS}.sig"}
    return sorted(file.name for file in directory.iterdir() if file.name not in ours)


def make_manifests(directory: Path, version: str, image: str) -> None:
    """Write the manifests for kubectl apply."""
    for name, source in MANIFESTS.items():
        found = run(kubectl(), "kustomize", ROOT / "config" / source)
        (directory / name).write_text(replaced(found, f"image: {IMAGE}:{version}\n", f"image: {image}\n"), "utf-8")


def make_chart(directory: Path, repository: str, tag: str, *, is_default: bool) -> None:
    """Package the chart, with this image as its default."""
    with tempfile.TemporaryDirectory() as scratch:
        chart = Path(scratch) / CHART.name
        # not as links, of which Helm prints each
        shutil.copytree(CHART, chart, symlinks=False)
        if not is_default:
            values = (chart / "values.yaml").read_text(encoding="utf-8")
            values = replaced(values, f"repository: {IMAGE}\n", f"repository: {repository}\n")
            (chart / "values.yaml").write_text(replaced(values, '  tag: ""\n', f"  tag: {json.dumps(tag)}\n"), "utf-8")
        run(helm(), "package", chart, "--destination", directory)


def replaced(text: str, old: str, new: str) -> str:
    """Return the text with the replacement; it must have the old part once."""
    if text.count(old) != 1:
        sys.exit(f"{old!r} is there {text.count(old)} times.")
    return text.replace(old, new)


def make_checksums(directory: Path) -> None:
    """Write the checksums of all files, for sha256sum --check."""
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(directory.iterdir())}
    text = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    (directory / CHECKSUMS).write_text(text, encoding="utf-8")


def sign(file: Path, key: Path) -> None:
    """Write the signature of a file beside it, for openssl dgst -verify."""
    signature = file.with_name(f"{file.name}.sig")
    run(Path("openssl"), "dgst", "-sha256", "-sign", key, "-out", signature, file)


def run(program: Path, *arguments: str | Path) -> str:
    """Return the output of a program; exit with its messages if it fails."""
    finished = subprocess.run([program, *arguments], capture_output=True, encoding="utf-8", check=False)
    if finished.returncode != 0:
        sys.exit(f"{program.name} {' '.join(map(str, arguments))}: {finished.stdout}{finished.stderr}")
    return finished.stdout


if __name__ == "__main__":
    main()
