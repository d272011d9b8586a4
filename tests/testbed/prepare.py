# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""
Make what takes long, unless it is in the cache.

Usage: python -m testbed.prepare [--kubernetes MINOR] [--druid RELEASE] WHAT ...
It needs the standard library alone, so that it can run while everything else is installed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial

from .build import build, build_node
from .clients import helm, kubectl
from .druid.artifacts import build as druid_artifacts
from .druid.versions import DEFAULT as DRUID
from .druid.versions import KNOWN
from .druid.versions import version as druid_version
from .kstatus import program as kstatus
from .lua import program as lua
from .node.images import images
from .node.requirements import require
from .opentelemetry import program as collector
from .progress import say
from .promtool import program as promtool
from .registry import program as registry
from .versions import DEFAULT, version


def main() -> int:
    """Make everything that is named; the exit status."""
    arguments = _arguments()
    makers = _makers(arguments.kubernetes, arguments.druid)
    try:
        for what in arguments.what:
            makers[what]()
    except (RuntimeError, ValueError) as error:
        say(f"error: {error}")
        return 1
    return 0


def _makers(kubernetes: str, druid: str) -> Mapping[str, Callable[[], object]]:
    """What is made, by its name."""
    return {
        "kubernetes": partial(build, version(kubernetes)),
        "kubectl": kubectl,
        "programs": require,
        "node": build_node,
        "druid": partial(druid_artifacts, druid_version(druid)),
        "druids": partial(_each_druid, druid),
        "images": images,
        "helm": helm,
        "promtool": promtool,
        "kstatus": kstatus,
        "lua": lua,
        "registry": registry,
        "collector": collector,
    }


def _each_druid(druid: str) -> None:
    for release in dict.fromkeys([*KNOWN, druid]):
        druid_artifacts(druid_version(release))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="testbed.prepare", description="Make what takes long, unless it is cached.")
    parser.add_argument("--kubernetes", default=DEFAULT, help="1.30, 1.34, 1.36, oldest or newest")
    parser.add_argument("--druid", default=DRUID, help=f"a release such as {DRUID}")
    parser.add_argument("what", nargs="+", choices=list(_makers(DEFAULT, DRUID)))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
