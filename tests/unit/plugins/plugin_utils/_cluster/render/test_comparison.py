# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The comparison with the recordings detects every relevant difference."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording

Manifest = dict[str, Any]


def container(manifest: Manifest) -> Manifest:
    found: Manifest = manifest["spec"]["template"]["spec"]["containers"][0]
    return found


CHANGES: list[tuple[str, Callable[[Manifest], Any]]] = [
    ("another value", lambda manifest: container(manifest).update(image="other")),
    ("another quantity", lambda manifest: container(manifest)["resources"]["requests"].update(cpu="501m")),
    ("another type", lambda manifest: container(manifest)["livenessProbe"]["httpGet"].update(port="8083")),
    ("an added field", lambda manifest: container(manifest).update(workingDir="/")),
    ("a removed field", lambda manifest: container(manifest).pop("livenessProbe")),
    ("a changed default", lambda manifest: manifest["spec"].update(revisionHistoryLimit=11)),
    ("a removed item", lambda manifest: container(manifest)["env"].pop()),
    ("another order", lambda manifest: container(manifest)["env"].reverse()),
    ("an added label", lambda manifest: manifest["metadata"]["labels"].update(a="b")),
    ("another owner", lambda manifest: manifest["metadata"]["ownerReferences"][0].update(uid="other")),
]


@pytest.mark.parametrize("change", [row[1] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_difference_is_detected(change: Callable[[Manifest], Any]) -> None:
    recorded = recording.owned_objects("hand")["StatefulSet", "druid-hand-historicals-hot"]
    ours = copy.deepcopy(recorded)
    assert recording.differences(ours, recorded, "StatefulSet") == []
    change(ours)
    assert recording.differences(ours, recorded, "StatefulSet") != []


def test_notation_of_a_quantity_is_not_a_difference() -> None:
    recorded = recording.owned_objects("hand")["StatefulSet", "druid-hand-historicals-hot"]
    ours = copy.deepcopy(recorded)
    container(ours)["resources"]["requests"].update(cpu="0.5", memory="1.5Gi")
    assert recording.differences(ours, recorded, "StatefulSet") == []
