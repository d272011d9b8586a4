# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures for tests that need a Kubernetes API."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from .api import ApiError
from .control_plane import ControlPlane, ControlPlaneError
from .versions import DEFAULT, version

_MERGE = "application/merge-patch+json"
_CRDS = Path(__file__).parents[2] / "config" / "crd"
_PLURALS = sorted(file.stem for file in _CRDS.glob("*s.yaml"))


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The running control plane in DRUIDOPS_TESTBED, else one of the version KUBERNETES for this session."""
    if directory := os.environ.get("DRUIDOPS_TESTBED"):
        plane = found(Path(directory))
        if (asked := os.environ.get("KUBERNETES")) and plane.kubernetes != version(asked):
            raise ControlPlaneError(f"the one in {directory} is Kubernetes {plane.kubernetes.minor}, not {asked}")
        yield plane
    else:
        with ControlPlane.start(tmp_path_factory.mktemp("control-plane"), kubernetes(), crds()) as plane:
            yield plane


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A new namespace."""
    with new_namespace(control_plane) as name:
        yield name


@contextmanager
def new_namespace(plane: ControlPlane) -> Iterator[str]:
    """A new namespace, which is not deleted if the control plane ends with this session.

    To delete a namespace is more work than to create a cluster in it: each of 60 kinds is listed and deleted.
    """
    name = f"test-{secrets.token_hex(4)}"
    plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    try:
        yield name
    finally:
        for plural in _PLURALS:
            _remove_all(plane, f"/apis/druid.apache.org/v1alpha1/namespaces/{name}/{plural}")
        if plane.has_node or os.environ.get("DRUIDOPS_TESTBED"):
            plane.request("DELETE", f"/api/v1/namespaces/{name}")


def _remove_all(plane: ControlPlane, path: str) -> None:
    """Remove all resources and their finalizers: an operator for all namespaces would reconcile them."""
    with suppress(ApiError):
        for metadata in [each["metadata"] for each in plane.request("GET", path)["items"]]:
            if metadata.get("finalizers"):
                body = {"metadata": {"finalizers": None}}
                plane.request("PATCH", f"{path}/{metadata['name']}", body, content_type=_MERGE)
            plane.request("DELETE", f"{path}/{metadata['name']}")


def kubernetes() -> str:
    """The version of Kubernetes that the tests run on."""
    return os.environ.get("KUBERNETES") or DEFAULT


def crds() -> list[Path]:
    """The CRDs of this collection."""
    return sorted(file for file in _CRDS.glob("*.yaml") if file.name != "kustomization.yaml")


def found(directory: Path) -> ControlPlane:
    """The control plane that runs in a directory; an error if there is none."""
    plane = ControlPlane.find(directory)
    if plane is None:
        raise ControlPlaneError(f"no control plane runs in {directory}")
    return plane
