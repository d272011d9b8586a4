# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What images are made of."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.testbed.node.images import archive, collector, druid
from ansible_collections.druidops.druid.tests.testbed.node.images.archive import Image
from ansible_collections.druidops.druid.tests.testbed.node.images.packages import Package, closure


def package(name: str, *needs: tuple[str, ...], provides: tuple[str, ...] = ()) -> Package:
    """An installed package."""
    return Package(name, "amd64", "1", provides, needs)


def by_name(*packages: Package) -> Mapping[str, Package]:
    """The packages by all of their names."""
    return {name: each for each in packages for name in (each.name, *each.provides)}


def test_packages_with_all_that_they_depend_on() -> None:
    known = by_name(
        package("java", ("libc",), ("not-installed", "fonts")),
        package("libc", ("gcc",)),
        package("gcc", ("libc",)),
        package("a-font", provides=("fonts",)),
        package("unrelated"),
    )
    assert [each.name for each in closure(["java"], known)] == ["a-font", "gcc", "java", "libc"]


def test_packages_that_serve_installation_are_left_out() -> None:
    known = by_name(package("java", ("debconf",)), package("debconf"))
    assert [each.name for each in closure(["java"], known)] == ["java"]


def layer(directory: Path, name: str) -> Path:
    """A file that stands for a layer."""
    (directory / name).write_text(name)
    return directory / name


def test_a_layer_of_two_images_is_there_once(tmp_path: Path) -> None:
    base, own = layer(tmp_path, "base"), layer(tmp_path, "own")
    images = (Image("one:1", (base, own), ("/run",), user="1000"), Image("two:1", (base,), ("/wait",)))
    archive.write(images, tmp_path / "images.tar")
    with tarfile.open(tmp_path / "images.tar") as written:
        names = written.getnames()
        contents = {name: content.read() for name in names if (content := written.extractfile(name))}
    manifest = json.loads(contents["manifest.json"])
    assert [each["RepoTags"] for each in manifest] == [["one:1"], ["two:1"]]
    assert [len(each["Layers"]) for each in manifest] == [2, 1]
    assert names.count(manifest[1]["Layers"][0]) == 1
    configuration = json.loads(contents[manifest[0]["Config"]])
    assert configuration["config"]["User"] == "1000"
    digests = [f"sha256:{hashlib.sha256(name.encode()).hexdigest()}" for name in ("base", "own")]
    assert configuration["rootfs"]["diff_ids"] == digests


def test_extensions_have_directories_of_their_own(tmp_path: Path) -> None:
    jars = [tmp_path / name / "33.0.0" / f"{name}-33.0.0.jar" for name in ("druid-server", "druid-datasketches")]
    for jar in jars:
        jar.parent.mkdir(parents=True)
        jar.touch()
    druid.write_layer(jars, ["druid-datasketches"], tmp_path / "layer.tar")
    with tarfile.open(tmp_path / "layer.tar") as written:
        modes = {entry.name: entry.mode for entry in written.getmembers()}
    assert "opt/druid/lib/druid-server-33.0.0.jar" in modes
    assert "opt/druid/extensions/druid-datasketches/druid-datasketches-33.0.0.jar" in modes
    assert modes["druid.sh"] == 0o755


def test_the_image_of_the_collector_is_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = tmp_path / "collector-0123"
    built.write_text("program")
    built.chmod(0o755)
    monkeypatch.setattr(collector, "program", lambda: built)
    monkeypatch.setattr(collector, "cache_directory", lambda: tmp_path)
    first = collector.image("collector:1")
    assert collector.image("collector:1") == first != collector.image("collector:2")
    with tarfile.open(first) as written:
        contents = {name: content.read() for name in written.getnames() if (content := written.extractfile(name))}
    [manifest] = json.loads(contents["manifest.json"])
    configuration = json.loads(contents[manifest["Config"]])["config"]
    assert (manifest["RepoTags"], configuration["User"]) == (["collector:1"], "10001")
    with tarfile.open(fileobj=io.BytesIO(contents[manifest["Layers"][0]])) as layer_of_it:
        [entry] = layer_of_it.getmembers()
    assert (f"/{entry.name}", entry.mode) == (configuration["Entrypoint"][0], 0o755)
