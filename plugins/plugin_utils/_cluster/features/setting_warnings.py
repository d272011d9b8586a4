# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Settings that Kubernetes accepts, and with which Druid does not start or is never ready. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.pod import ignored_requests
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group

# Options of Java whose value may be the next word.
_WITH_VALUE = re.compile(r"-cp|-classpath|-p|--class-path|--(upgrade-)?module-path|--(add|limit|patch)-[a-z-]+")


class SettingWarnings(Feature):
    """Warns about settings that no other feature has."""

    def warnings(self, inputs: Inputs) -> Iterator[str]:
        """Yield a warning for what is set twice, has no effect, or cannot be right."""
        for group in inputs.cluster.groups:
            texts = (*inputs.desired.duplicates.get(group.key, ()), *without_effect(group, inputs.observed))
            yield from (f"spec.nodes[{group.key}]: {text}" for text in texts)
        yield from setting_warnings(inputs.cluster)


def without_effect(group: Group, observed: Observed) -> Iterator[str]:
    """Yield what has no effect in the specification of a group, and in annotations that request its restart."""
    for name in ignored_requests(group):
        yield f"annotation {name} must be a time such as 2026-01-31T12:00:00Z, and is ignored"
    if group.keeps_replicas and not group.autoscaled and observed.replicas(group) == 0:
        yield "replicas is not set, so the group keeps its number of pods, which is 0"
    if names.REPLICAS_BEFORE_STOP_ANNOTATION in group.merged("workloadAnnotations"):
        yield (
            f"workloadAnnotations[{names.REPLICAS_BEFORE_STOP_ANNOTATION}] has no effect: the number of pods before a "
            "stop is recorded there. Remove it, and set replicas to define the number of pods"
        )


def setting_warnings(cluster: Cluster) -> Iterator[str]:
    """Yield a warning for each group whose port or JVM options cannot be right."""
    for group in cluster.groups:
        yield from _port(group)
        yield from _options(group)


def _port(group: Group) -> Iterator[str]:
    specified = group.properties
    is_plain = specified.get("druid.enablePlaintextPort", "true").strip().lower() != "false"
    fields = ("druid.plaintextPort", "druid.port") if is_plain else ("druid.tlsPort",)
    name = next((field for field in fields if field in specified), "")
    value = specified.get(name, "").strip()
    if value.isdecimal() and int(value) != group.port:
        yield (
            f"spec.nodes[{group.key}].druid.port is {group.port}, but {name} in its properties is {value}: the probes "
            "and the port of the container are not those of Druid. Set both to the same port"
        )


def _options(group: Group) -> Iterator[str]:
    fields = (
        ("jvm.options", group.first_non_empty("jvm.options")),
        ("extra.jvm.options", group.node.get("extra.jvm.options")),
    )
    for field, text in fields:
        where = f"spec.nodes[{group.key}]: {field}"
        try:
            words = shlex.split("\n".join(line for line in str(text or "").splitlines() if line.lstrip()[:1] != "#"))
        except ValueError:
            yield f"{where} has a quotation mark without a second one. Add it, or remove the first one"
            continue
        for before, word in pairwise(("", *words)):
            if not (word.startswith(("-", "@")) or "$" in word or _WITH_VALUE.fullmatch(before)):
                yield f"{where} has {word!r}, which Java takes for the name of a class. Options begin with a hyphen"
                break
