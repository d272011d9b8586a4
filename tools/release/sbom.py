# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The bill of materials of the image (CycloneDX 1.6): what the build pins, without the operating system.

The packages of the base image that pip knows are in build/base.txt; those of its operating system are in the SBOM of
that image.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

Component = dict[str, Any]


def sbom(root: Path, version: str, image: str) -> dict[str, Any]:
    """Return the document. It has no time and no serial number: the same sources have the same one."""
    collection = {
        **component("druidops.druid", version, f"pkg:generic/druidops.druid@{version}"),
        "licenses": [{"license": {"id": "GPL-3.0-or-later"}}],
        "supplier": {"name": "druidops contributors", "url": ["https://github.com/druidops"]},
    }
    repository, _colon, tag = image.rpartition(":")
    name = repository.rpartition("/")[2]
    oci = f"pkg:oci/{name}@{tag}?repository_url={quote(repository, safe='')}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**component(name, tag, oci), "type": "container"}},
        "components": [collection, *components(root)],
    }


def components(root: Path) -> Iterator[Component]:
    """Yield what is pinned: the base image, Helm, collections, packages of Python."""
    build = root / "build"
    dockerfile = (build / "Dockerfile").read_text(encoding="utf-8")
    [(repository, tag)] = re.findall(r"^ARG BASE=(\S+):(\S+)$", dockerfile, re.MULTILINE)
    name = repository.rpartition("/")[2]
    base = component(name, tag, f"pkg:oci/{name}@{tag}?repository_url={quote(repository, safe='')}")
    yield {**base, "type": "container"}
    [helm] = re.findall(r"^ARG HELM=(\S+)$", dockerfile, re.MULTILINE)
    yield {**component("helm", helm, f"pkg:golang/helm.sh/helm/v3@{helm}"), "type": "application"}
    for found in yaml.safe_load((build / "requirements.yml").read_text(encoding="utf-8"))["collections"]:
        yield component(found["name"], found["version"], f"pkg:generic/{found['name']}@{found['version']}")
    for file in ("base.txt", "requirements.txt"):
        pins = re.findall(r"^([\w.-]+)==(\S+)$", (build / file).read_text(encoding="utf-8"), re.MULTILINE)
        for package, pinned in pins:
            yield component(package, pinned, f"pkg:pypi/{re.sub('[._-]+', '-', package).lower()}@{pinned}")


def component(name: str, version: str, purl: str) -> Component:
    """Return a component: a library, unless the caller changes that."""
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
