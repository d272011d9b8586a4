# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A user who installs the operator into a cluster with kubectl and Helm."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from testbed.clients import helm, kubectl

Manifest = dict[str, Any]
Key = tuple[str, str, str]

ROOT = Path(__file__).parents[3]
# What is installed from, as it lies in a clone.
SOURCES = ("charts", "config")
DOCUMENT = ROOT / "docs" / "installing-the-operator.md"
OPERATOR = "druid-operator-controller-manager"
# Outside of the clone that the tests run from, which they must not change.
_ABSENT = "/dev/null"


class RefusedError(RuntimeError):
    """A command has failed; the text is its output."""


@dataclass(frozen=True)
class Installer:
    """A shell in a directory that looks like a clone; without a kubeconfig there is no cluster."""

    directory: Path
    kubeconfig: Path | None = None

    def __post_init__(self) -> None:
        programs = self.directory / "bin"
        programs.mkdir()
        for name, program in (("kubectl", kubectl()), ("helm", helm())):
            (programs / name).symlink_to(program)
        for name in SOURCES:
            (self.directory / name).symlink_to(ROOT / name)

    def run(self, script: str) -> str:
        """Return the output of the commands; a RefusedError if one of them fails."""
        finished = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.directory,
            env={
                "PATH": f"{self.directory / 'bin'}:/usr/bin:/bin",
                "HOME": str(self.directory),
                "KUBECONFIG": str(self.kubeconfig or _ABSENT),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if finished.returncode != 0:
            raise RefusedError(f"{script}\n{finished.stdout}{finished.stderr}")
        return finished.stdout

    def objects(self, script: str) -> dict[Key, Manifest]:
        """Return the objects that a command prints, by kind, namespace and name."""
        # the CRDs are long: libyaml's parser takes a tenth of the time
        return by_key(yaml.load_all(self.run(script), Loader=yaml.CSafeLoader))

    def get(self, what: str) -> Manifest:
        """Return what `kubectl get` finds."""
        found: Manifest = json.loads(self.run(f"kubectl get --output json {what}"))
        return found


def by_key(manifests: Iterable[Manifest]) -> dict[Key, Manifest]:
    """Return the manifests by kind, namespace and name; an error when one is there twice."""
    found = [(key(each), each) for each in manifests if each]
    assert len({name for name, _manifest in found}) == len(found), "one object is there twice"
    return dict(found)


def key(manifest: Manifest) -> Key:
    """Return kind, namespace and name."""
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def commands(title: str, number: int = 0) -> str:
    """Return the commands in a block of a section of the document, as a script."""
    section = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    block = re.findall(r"^```console\n(.*?)^```$", section, re.M | re.S)[number]
    assert all(line.startswith("$ ") for line in block.splitlines())
    return re.sub(r"^\$ ", "", block, flags=re.M)


def container(deployment: Manifest) -> Manifest:
    """Return the operator's container."""
    [found] = deployment["spec"]["template"]["spec"]["containers"]
    return dict(found)


def environment(deployment: Manifest) -> dict[str, str]:
    """Return the container's environment, with the fields of its pod."""
    metadata = deployment["metadata"]
    pod = {"metadata.namespace": metadata.get("namespace", ""), "metadata.name": f"{metadata['name']}-0"}
    return {
        each["name"]: pod[each["valueFrom"]["fieldRef"]["fieldPath"]] if "valueFrom" in each else each.get("value", "")
        for each in container(deployment)["env"]
    }


def arguments(deployment: Manifest) -> list[str]:
    """Return the container's arguments, with its variables put in as the kubelet does."""
    variables: Mapping[str, str] = environment(deployment)
    return [
        re.sub(r"\$\((\w+)\)", lambda found: variables[found[1]], argument)
        for argument in container(deployment)["args"]
    ]
