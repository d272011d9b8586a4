# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text of a resource that would be code somewhere, through the operator as its image runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.cluster.test_verbatim import (
    assert_arrived,
    extra_configuration,
    resource,
)
from ansible_collections.druidops.druid.tests.system.support import image, small_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)

# Keys by which Ansible's parsers of JSON and YAML distinguish their own objects from data, with invalid values.
ANSIBLES_OWN: list[dict[str, Any]] = [
    {key: value}
    for key in ("__ansible_unsafe", "__ansible_vault", "__ansible_type")
    for value in ("x", "{{ 1 }}", 5, None, [], {}, {"__ansible_unsafe": "x"})
]
# Fields of a specification would be variables of the run, and these would change what it does.
VARIABLES = {
    "ansible_connection": "docker",
    "ansible_python_interpreter": "/none",
    "ansible_operator_meta": {"name": "another", "namespace": "default"},
    "druid_cluster_state": "absent",
    "druid_cluster_name": "another",
    "druidops_x": "x",
}
# Where the operator runs; what the texts would make is seen from here as well.
MARKER = Path("/tmp/executed")
EVIL = f"{{{{ lookup('pipe', 'touch {MARKER}') }}}}"


def test_text_is_copied_verbatim_and_never_evaluated(image_layout: Path, live: NamespaceClient, tmp_path: Path) -> None:
    live.create(extra_configuration(MARKER))
    document, stored = everywhere(), live.create(everywhere())
    live.create(in_a_message())
    with image.started(image_layout, live, tmp_path) as started:
        eventually(lambda: [line for line in started.lines() if line["name"] == "bad" and EVIL in line["message"]])
        started.wait_until_settled(document["metadata"]["name"])

        assert not (started.tmp / MARKER.name).exists()
        # none has failed, to be tried again
        assert set(started.ended.values()) == {"0"}

    assert_arrived(live, document, MARKER)
    assert EVIL in condition(live.get("Druid", "bad"), "Degraded")["message"]
    # fields that the kind has not are not even stored
    assert not VARIABLES.keys() & stored["spec"].keys()


def everywhere() -> Manifest:
    """Return a resource with texts, and keys, in each place that takes any."""
    document = resource(MARKER)
    document["spec"]["nodes"]["data"]["dynamicConfig"]["own"] = ANSIBLES_OWN
    document["spec"] |= VARIABLES
    return document


def in_a_message() -> Manifest:
    """Return a resource whose text is returned in conditions and in the log."""
    document = small_cluster.resource("bad")
    document["spec"]["nodes"]["brokers"]["podLabels"] = {"team": EVIL}
    return document
