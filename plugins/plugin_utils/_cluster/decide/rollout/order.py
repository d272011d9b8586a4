# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order in which groups restart: as specified or documented by Druid, reversed while the version goes down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import image
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


class Order(NamedTuple):
    """The keys of the groups in the order of their restarts, and warnings about it."""

    groups: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def rollout_order(cluster: Cluster, restarts: Iterable[Step]) -> Order:
    """Return the order; `restarts` are the steps that restart pods."""
    keys = tuple(group.key for group in cluster.groups)
    changes = [
        pair for pair in map(_images, (step for step in restarts if not step.restart.eviction)) if pair[0] != pair[1]
    ]
    unknown = [new if image.version(old) else old for old, new in changes if None in _versions(old, new)]
    if unknown:
        return Order(keys, (_warning(unknown),))
    return Order(tuple(reversed(keys)) if any(_is_downgrade(*pair) for pair in changes) else keys)


def _images(step: Step) -> tuple[str, str]:
    return image.main_image(step.live or step.manifest), image.main_image(step.after or step.manifest)


def _versions(old: str, new: str) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    return image.version(old), image.version(new)


def _is_downgrade(old: str, new: str) -> bool:
    before, after = _versions(old, new)
    return before is not None and after is not None and after < before


def _warning(images: Sequence[str]) -> str:
    return (
        f"the tag of image {join_limited(dict.fromkeys(images))} is not a version, so whether Druid is upgraded or "
        "downgraded is not known: the groups restart in the order of an upgrade. Use tags that begin with the version"
    )
