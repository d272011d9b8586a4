# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of a release, and the commands of the README and of RELEASING.md that use them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.installation import (
    OPERATOR,
    ROOT,
    Installer,
    by_key,
    container,
)
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from testbed.control_plane import ControlPlane
from testbed.control_plane import control_plane as temporary
from testbed.pytest_plugin import kubernetes
from testbed.registry import registry

pytestmark = pytest.mark.xdist_group("installation")

VERSION = yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["version"]
README = (ROOT / "README.md").read_text(encoding="utf-8").replace("\\\n", "")
RELEASING = (ROOT / "RELEASING.md").read_text(encoding="utf-8")
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
CHART, COLLECTION = f"druid-operator-{VERSION}.tgz", f"druidops-druid-{VERSION}.tar.gz"
FILES = {CHART, COLLECTION, "install.yaml", "install-namespaced.yaml", "sbom.cdx.json", "SHA256SUMS"}
SYSTEM = "druid-operator-system"
[IMAGE] = re.findall(r"^make dist .* IMAGE=(\S+)$", README, re.MULTILINE)


def make(directory: Path, *options: str | Path) -> None:
    """Make the files as `make dist` does; AssertionError with the output if that fails."""
    command = [sys.executable, "-m", "tools.release", directory, os.environ["DRUIDOPS_TARBALL"], *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    finished = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files with the image of the README, and with a key, which is beside the directory."""
    directory = tmp_path_factory.mktemp("release") / "release"
    for command in (
        "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:3072 -out key.pem",
        "openssl pkey -in key.pem -pubout -out druidops.pub",
    ):
        assert command in RELEASING
        subprocess.run(command.split(), cwd=directory.parent, capture_output=True, check=True)
    make(directory, "--image", IMAGE, "--key", directory.parent / "key.pem")
    return directory


def test_files_are_those_of_the_table(release: Path) -> None:
    [table] = re.findall(r"^\| File \| Content \|\n(.*?)\n\n", RELEASING, re.MULTILINE | re.DOTALL)
    named = {name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert {file.name for file in release.iterdir()} == named == FILES | {"SHA256SUMS.sig"}


def verify(release: Path) -> int:
    """Run the commands of the page as one who has downloaded the files; return the exit status."""
    [script] = re.findall(r"^```shell\n(openssl dgst.*?)^```", RELEASING, re.MULTILINE | re.DOTALL)
    script = script.replace("druidops.pub", "../druidops.pub")
    return subprocess.run(["bash", "-e", "-c", script], cwd=release, capture_output=True, check=False).returncode


@pytest.mark.parametrize("name", ["install.yaml", "SHA256SUMS"])
def test_changed_file_does_not_verify(release: Path, name: str) -> None:
    file = release / name
    original = file.read_bytes()
    assert verify(release) == 0
    try:
        file.write_bytes(original + b"\n")
        assert verify(release) != 0
    finally:
        file.write_bytes(original)


def test_default_image_is_that_of_config_and_chart(tmp_path: Path) -> None:
    make(tmp_path / "release")
    shell = Installer(tmp_path)
    manifests = by_key(yaml.load_all((tmp_path / "release/install.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader))
    assert manifests == shell.objects("kubectl kustomize config/default")
    chart = shell.objects(f"helm template druid-operator release/{CHART} --kube-version 1.34.0")
    assert chart == shell.objects("helm template druid-operator charts/druid-operator --kube-version 1.34.0")
    # nothing else is removed, such as the home directory of a typing error
    (tmp_path / "release/other").touch()
    with pytest.raises(AssertionError, match="has other files than those of a release: other"):
        make(tmp_path / "release")
    assert (tmp_path / "release/other").exists()


def test_bill_of_materials_has_what_the_image_pins(release: Path) -> None:
    document = json.loads((release / "sbom.cdx.json").read_text(encoding="utf-8"))
    found = {each["name"]: each["version"] for each in document["components"]}
    pinned = "".join((ROOT / "build" / name).read_text("utf-8") for name in ("base.txt", "requirements.txt"))
    assert dict(re.findall(r"^([\w.-]+)==(\S+)$", pinned, re.MULTILINE)).items() <= found.items()
    others = {"druidops.druid", "kubernetes.core", "helm", "ansible-operator"}
    assert found.keys() - {name for name, _version in re.findall(r"^([\w.-]+)==(\S+)$", pinned, re.M)} == others
    assert len(found) == len(document["components"]) == len({each["bom-ref"] for each in document["components"]})
    assert document["metadata"]["component"]["purl"].startswith(f"pkg:oci/druid-operator@{VERSION}?repository_url=")


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane without CRDs."""
    with temporary(kubernetes()) as found:
        yield found


def in_readme(start: str) -> str:
    """Return the command of the README that begins so."""
    [found] = [line for line in README.splitlines() if line.startswith(start)]
    return found.partition("     #")[0]


def test_readme_from_top_to_bottom(release: Path, plane: ControlPlane, tmp_path: Path) -> None:
    """Only downloads are left out: `pip install`, the dependency on Galaxy, and the image."""
    shell = Installer(tmp_path, plane.kubeconfig())
    (tmp_path / "release").symlink_to(release)

    ansible = Ansible(CORES["2.19"], plane, "druid", tmp_path)
    path = tmp_path / "collections"
    environment = {**ansible.environment(), "ANSIBLE_COLLECTIONS_PATH": f"{path}:{ansible.core.kubernetes_core}"}
    install = f"{in_readme('ansible-galaxy collection install release/')} --offline --collections-path {path}"
    subprocess.run(["bash", "-ec", install], cwd=tmp_path, env=environment, capture_output=True, check=True)
    collections = {"ANSIBLE_COLLECTIONS_PATH": environment["ANSIBLE_COLLECTIONS_PATH"]}
    assert ansible.run("druidops.druid.install_crds", **collections).changed

    # The same CRDs again, of another field manager; and the same operator, of another owner.
    shell.run(in_readme("kubectl apply"))
    check_operator(shell)
    shell.run(in_readme("helm install"))
    check_operator(shell)


def check_operator(shell: Installer) -> None:
    """The operator of the README's image runs."""
    shell.run(f"kubectl rollout status deployment/{OPERATOR} --namespace {SYSTEM} --timeout 60s")
    assert container(shell.get(f"deployments {OPERATOR} --namespace {SYSTEM}"))["image"] == IMAGE


@campaign("the chart of a release from its file")
def test_chart_from_a_registry(release: Path, plane: ControlPlane, tmp_path: Path) -> None:
    """With all that production needs, except the CRDs of the Prometheus operator."""
    shell = Installer(tmp_path, plane.kubeconfig())
    (tmp_path / "release").symlink_to(release)
    certificates = plane.ca_file.parent
    with registry(tmp_path / "registry", certificates / "apiserver.crt", certificates / "apiserver.key") as server:
        options = f"--ca-file {plane.ca_file} --registry-config {server.credentials}"
        shell.run(f"helm push release/{CHART} oci://{server.address}/charts {options}")
        chart = f"oci://{server.address}/charts/druid-operator --version {VERSION} {options}"
        shell.run(f"helm pull {chart} && cmp {CHART} release/{CHART}")
        values = "replicaCount=2,networkPolicy.enabled=true,dashboard.enabled=true,crd.enabled=false"
        scope = "--namespace keeper --create-namespace --wait --timeout 60s --set admissionPolicy.enabled=false"
        shell.run(f"helm install keeper {chart} {scope} --set {values},fullnameOverride=keeper")
    for kind in ("poddisruptionbudgets", "networkpolicies"):
        assert shell.get(f"{kind} keeper-controller-manager --namespace keeper")["spec"]
    pods = shell.get("pods --namespace keeper --selector control-plane=controller-manager")["items"]
    assert len({pod["spec"]["nodeName"] for pod in pods}) == len(pods) == 2


def step(name: str) -> str:
    """Return the script of a step of the workflow."""
    [found] = [each["run"] for each in WORKFLOW["jobs"]["release"]["steps"] if each.get("name") == name]
    return str(found)


@pytest.mark.parametrize(("tag", "status"), [(VERSION, 0), (f"v{VERSION}", 1), ("99.0.0", 1)])
def test_workflow_compares_the_tag_with_the_version(tag: str, status: int) -> None:
    environment = {"PATH": os.environ["PATH"], "GITHUB_REF_NAME": tag}
    script = step("Compare the tag with the version")
    assert subprocess.run(["bash", "-e", "-c", script], cwd=ROOT, env=environment, check=False).returncode == status


def test_workflow_publishes_the_files_of_make_dist(release: Path, tmp_path: Path) -> None:
    """With programs that only record their arguments in place of make, docker, helm, gh and ansible-galaxy.

    They read a password, as the real ones do: otherwise what writes it may get a SIGPIPE.
    """
    program = '#!/bin/sh\necho "$(basename "$0") $*" >>"$LOG"\ncase "$*" in *--password-stdin*) cat >/dev/null;; esac\n'
    (tmp_path / "release").symlink_to(release)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("make", "docker", "helm", "gh", "ansible-galaxy", "pip"):
        (programs / name).write_text(program, encoding="utf-8")
        (programs / name).chmod(0o755)
    secrets = dict.fromkeys(("SIGNING_KEY", "QUAY_USER", "QUAY_TOKEN", "GALAXY_TOKEN", "GH_TOKEN"), "s3cret")
    log = tmp_path / "log"
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "LOG": str(log), "RUNNER_TEMP": str(tmp_path), **secrets}
    for each in WORKFLOW["jobs"]["release"]["steps"]:
        if "run" in each:
            assert {*each.get("env", {})} <= secrets.keys()
            script = each["run"].replace("galaxy.yml", str(ROOT / "galaxy.yml"))
            subprocess.run(
                ["bash", "-eo", "pipefail", "-c", script],
                cwd=tmp_path,
                env={**environment, "GITHUB_REF_NAME": VERSION},
                capture_output=True,
                check=True,
            )
    found = log.read_text(encoding="utf-8")
    assert f"make dist RELEASE=release KEY={tmp_path}/key.pem\n" in found
    assert f"helm push release/{CHART} oci://quay.io/druidops/charts\n" in found
    assert f"docker push quay.io/druidops/druid-operator:{VERSION}\n" in found
    [published] = re.findall(r"^ansible-galaxy collection publish --token s3cret (.*)$", found, re.MULTILINE)
    [attached] = re.findall(rf"^gh release create {VERSION} (.*?) --verify-tag", found, re.MULTILINE)
    assert {published, *attached.split()} == {f"release/{name}" for name in (FILES | {"SHA256SUMS.sig"})}
    assert not (tmp_path / "key.pem").exists()
