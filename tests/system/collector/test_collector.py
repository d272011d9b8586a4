# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A collector from its installation to its removal."""

from __future__ import annotations

import base64

from ansible_collections.druidops.druid.tests.system.collector.conftest import Collectors, resource
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    NamespaceClient,
    condition,
    without_status,
)

# Of a period in which nothing has changed.
MOST_REQUESTS = 16
CHECKSUM = "checksum/config"
# What would be evaluated if any part took it for a template.
TEXT = """\
receivers: &none {}
exporters: *none
# {{ lookup('pipe', 'false') }} {{ .Release.Name }} {%- raw %} ${HOME} ${env:HOME} $$1 $(id) '" \\ é
"""


def test_life_cycle(each_collectors: Collectors, live: NamespaceClient) -> None:
    collectors = each_collectors
    live.create(resource(collector={"config": TEXT}))
    mark = live.mark()
    planned = collectors.playbook("telemetry", "--check", "--diff")
    assert "create Deployment telemetry" in planned.output
    assert [each for each in live.writes(mark) if not each.dry_run] == []

    assert "install release telemetry" in collectors.playbook().output
    assert condition(live.get("Collector", "telemetry"), "Ready")["reason"] == "ReleaseDeployed"
    assert collectors.helm("get", "values", "telemetry", "--output", "json").strip().startswith('{"config":')
    assert base64.b64decode(live.get("Secret", "telemetry-config")["data"]["config.yaml"]).decode() == TEXT
    before = collectors.pod_template()
    mark = live.mark()
    assert not collectors.playbook().changed
    assert [each for each in without_status(live.writes(mark)) if "(dry run)" not in each] == []
    assert collectors.revision() == 1
    # two for each object of the release, and not Helm
    assert len(live.requests(mark)) <= MOST_REQUESTS

    live.merge("Collector", "telemetry", {"spec": {"collector": {"config": "receivers: {otlp: {}}"}}})
    assert "update Secret telemetry-config" in collectors.run().output
    after = collectors.pod_template()
    assert before["metadata"]["annotations"][CHECKSUM] != after["metadata"]["annotations"][CHECKSUM]

    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": "0.141.0"}}})
    collectors.run()
    assert collectors.pod_template()["spec"]["containers"][0]["image"].endswith(":0.141.0")
    assert collectors.revision() == 3

    assert "uninstall release telemetry" in collectors.playbook(state="absent", wait=True).output
    assert live.find("Collector", "telemetry") is None
    eventually(lambda: not live.names("Deployment") and not live.names("Secret") and not live.names("Role"))
    assert not collectors.run(state="absent").changed
