# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The image without a build: its Dockerfile, and the files that pin its content."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.build import layout
from ansible_collections.druidops.druid.tests.testbed.dockerfile import Dockerfile
from ansible_collections.druidops.druid.tools.ci.kubernetes_core import BUNDLES

COLLECTION = Path(__file__).parents[3]
BUILD = COLLECTION / "build"
DOCKERFILE = Dockerfile.read(BUILD / "Dockerfile")
IGNORED = (COLLECTION / ".dockerignore").read_text().splitlines()


def read(name: str) -> Any:
    return yaml.safe_load((COLLECTION / name).read_text(encoding="utf-8"))


def test_reads_a_dockerfile(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text(
        'ARG A=1\nFROM a:1 AS b\nENV X=y\n# no\nFROM c:2\nENV A=1 \\\n# why\n    B="2 3"\nentrypoint ["a", "b"]\n'
    )
    read = Dockerfile.read(file)
    assert read.all("FROM") == ["a:1 AS b", "c:2"]
    assert read.final.environment == {"A": "1", "B": "2 3"}
    assert read.final.entrypoint == ["a", "b"]


def test_each_stage_is_made_of_the_pinned_base() -> None:
    (base,) = [text.partition("=")[2] for text in DOCKERFILE.all("ARG") if text.startswith("BASE=")]
    name, _colon, tag = base.partition(":")
    assert (name, bool(re.fullmatch(r"v\d+\.\d+\.\d+", tag))) == ("quay.io/operator-framework/ansible-operator", True)
    # Helm is built from its Go module, in a stage of its own.
    helm = "docker.io/library/golang:1.26"
    assert [text.split()[0] for text in DOCKERFILE.all("FROM")] == [helm, "${BASE}", "${BASE}"]
    assert f"ansible-operator {tag}:" in (BUILD / "base.txt").read_text(), "base.txt is the list of another image"


def test_helm_is_the_one_of_the_tests() -> None:
    (version,) = [text.partition("=")[2] for text in DOCKERFILE.all("ARG") if text.startswith("HELM=")]
    modules = (COLLECTION / "tests" / "testbed" / "client_programs" / "go.mod").read_text(encoding="utf-8")
    assert f"helm.sh/helm/v3 {version} " in modules


def test_user_is_numeric_and_not_root() -> None:
    assert int(DOCKERFILE.final.all("USER")[-1]) > 0


def test_the_command_is_that_of_the_base_image() -> None:
    """In exec form: no shell between tini and the operator, which would keep SIGTERM to itself."""
    first = ["/tini", "--", "/opt/ansible/bin/start", "/usr/local/bin/ansible-operator", "run"]
    assert DOCKERFILE.final.entrypoint[:5] == first
    assert DOCKERFILE.final.all("WORKDIR") == ["/opt/ansible"]
    assert DOCKERFILE.final.all("CMD") == []


def test_only_the_watches_file_requires_a_value() -> None:
    asked = set(re.findall(r"\$\{?(\w+)", (COLLECTION / "watches.yaml").read_text()))
    assert asked <= set(DOCKERFILE.final.environment)


def test_copied_files_exist_and_are_not_ignored() -> None:
    copied = [text.split()[:-1] for text in DOCKERFILE.all("COPY") if not text.startswith("--from=")]
    assert copied == [["."]]
    taken = [line.removeprefix("!/") for line in IGNORED if line.startswith("!")]
    assert IGNORED[IGNORED.index("*") - 1].startswith("#")
    assert [name for name in taken if not (COLLECTION / name).exists()] == []
    assert "build" in taken


def test_whole_collection_is_copied() -> None:
    """Files that galaxy.yml excludes from the collection are excluded from the image, all others are included."""
    left_out = {*read("galaxy.yml")["build_ignore"], ".git"}
    present = {each.name for each in COLLECTION.iterdir() if not each.name.startswith(".")}
    taken = {line.removeprefix("!/") for line in IGNORED if line.startswith("!")}
    assert present - left_out == taken - {"build"}


def test_only_package_managers_download() -> None:
    assert DOCKERFILE.all("ADD") == []
    assert not re.search(r"\b(curl|wget|git)\b", " ".join(DOCKERFILE.all("RUN")))


def test_requirements_are_pinned_and_not_those_of_the_base() -> None:
    for name in ("base.txt", "requirements.txt"):
        lines = [line for line in (BUILD / name).read_text().splitlines() if line and not line.startswith("#")]
        assert len(layout.pins(BUILD / name)) == len(lines)
    assert not {*layout.pins(BUILD / "base.txt")} & {*layout.pins(BUILD / "requirements.txt")}


@pytest.mark.parametrize("name", ["kubernetes", "requests", "jmespath"])
def test_image_has_supported_versions_of_all_imports(name: str) -> None:
    found = {**layout.pins(BUILD / "base.txt"), **layout.pins(BUILD / "requirements.txt")}[name]
    required = re.search(rf"^{name}>=(\S+)$", (COLLECTION / "requirements.txt").read_text(), re.MULTILINE)
    assert required
    assert [*map(int, found.split("."))] >= [*map(int, required[1].split("."))]


def test_collections_are_pinned_to_tested_versions() -> None:
    required = {each["name"]: each["version"] for each in read("build/requirements.yml")["collections"]}
    assert required == {"kubernetes.core": BUNDLES["newest"].collection}
    assert {*required} == {*read("galaxy.yml")["dependencies"]}


def test_operator_tests_use_the_versions_of_the_image() -> None:
    text = (COLLECTION / "tests" / "requirements" / "operator.txt").read_text()
    assert re.findall("^-r (.*)$", text, re.MULTILINE) == ["../../build/base.txt", "../../build/requirements.txt"]


def test_a_package_of_another_version_is_named(tmp_path: Path) -> None:
    requirements = tmp_path / "base.txt"
    requirements.write_text("pytest==0.1\nno-such-package==1.2\n")
    wrong = [*layout.wrong_packages(requirements)]
    assert "has pytest " in wrong[0]
    assert wrong[0].endswith(", not 0.1 as in base.txt")
    assert "has no-such-package None, not 1.2" in wrong[1]
    assert "no ansible_runner_http" in wrong[2]


def test_a_missing_collection_is_named(tmp_path: Path) -> None:
    (wrong,) = layout.wrong_collections(tmp_path)
    assert "has kubernetes.core None, not " in wrong
