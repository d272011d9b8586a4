# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the documents do with kubectl, for machines without it: the same options, and the same requests.

Run as a program, with the directory of the control plane in CONTROL_PLANE. Whatever it does not know it refuses.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from testbed.control_plane import ControlPlane

MERGE = "application/merge-patch+json"
PLURALS = {"pod": "pods", "druid": "druids", "deployment": "deployments"}
ROOTS = {"pods": "/api/v1", "druids": "/apis/druid.apache.org/v1alpha1", "deployments": "/apis/apps/v1"}


def main() -> None:
    """Carry out one command."""
    arguments = _parser().parse_args()
    plane = ControlPlane.find(Path(os.environ["CONTROL_PLANE"]))
    if plane is None:
        raise SystemExit("no control plane")
    plural = PLURALS.get(arguments.resource, arguments.resource)
    arguments.run(plane, f"{ROOTS[plural]}/namespaces/{arguments.namespace}/{plural}", arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kubectl", allow_abbrev=False)
    commands = parser.add_subparsers(required=True)
    for name, run in (("get", _get), ("scale", _scale), ("annotate", _annotate)):
        command = commands.add_parser(name, allow_abbrev=False)
        command.set_defaults(run=run)
        command.add_argument("resource")
        command.add_argument("--namespace", required=True)
        if run is _annotate:
            command.add_argument("name")
            command.add_argument("annotation")
        else:
            command.add_argument("--selector", default="")
    commands.choices["get"].add_argument("--output", default="custom-columns=NAME:.metadata.name")
    commands.choices["get"].add_argument("--no-headers", action="store_true")
    commands.choices["scale"].add_argument("--replicas", type=int, required=True)
    return parser


def _found(plane: ControlPlane, path: str, selector: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = plane.request("GET", f"{path}?labelSelector={quote(selector)}", user="person")[
        "items"
    ]
    return items


def _get(plane: ControlPlane, path: str, arguments: argparse.Namespace) -> None:
    columns = dict(column.split(":.") for column in arguments.output.removeprefix("custom-columns=").split(","))
    rows = [] if arguments.no_headers else [list(columns)]
    rows += [[_at(each, field) for field in columns.values()] for each in _found(plane, path, arguments.selector)]
    print("\n".join("   ".join(row) for row in rows))


def _at(document: Any, path: str) -> str:
    for name in path.split("."):
        document = (document or {}).get(name)
    return "<none>" if document is None else str(document)


def _scale(plane: ControlPlane, path: str, arguments: argparse.Namespace) -> None:
    found = _found(plane, path, arguments.selector)
    if not found:
        raise SystemExit("error: no objects passed to scale")
    for each in found:
        scale = {"spec": {"replicas": arguments.replicas}}
        plane.request("PATCH", f"{path}/{each['metadata']['name']}/scale", scale, user="person", content_type=MERGE)


def _annotate(plane: ControlPlane, path: str, arguments: argparse.Namespace) -> None:
    name, _equals, value = arguments.annotation.removesuffix("-").partition("=")
    annotations = {name: None if arguments.annotation.endswith("-") else value}
    body = {"metadata": {"annotations": annotations}}
    plane.request("PATCH", f"{path}/{arguments.name}", body, user="person", content_type=MERGE)


if __name__ == "__main__":
    main()
