# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets that a Collector refers to: when they change, its pods restart."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.system.collector.conftest import Collectors, resource
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient


def secret(name: str, text: str) -> dict[str, object]:
    return {"kind": "Secret", "metadata": {"name": name}, "stringData": {"TEXT": text}}


def test_secret_with_the_configuration(collectors: Collectors, live: NamespaceClient) -> None:
    live.create(secret("source", "receivers: {}"))
    live.create(resource(collector={"configFrom": {"secretKeyRef": {"name": "source", "key": "TEXT"}}}))
    collectors.run()
    before = collectors.pod_template()
    live.merge("Secret", "source", {"stringData": {"TEXT": "receivers: {hidden: {}}"}})
    changed = collectors.run()
    assert "upgrade release telemetry" in changed.output
    assert "hidden" not in changed.output
    assert collectors.pod_template() != before


def test_secret_with_environment_variables(collectors: Collectors, live: NamespaceClient) -> None:
    live.create(resource(values={"environmentSecrets": ["login"]}))
    assert "there is no Secret login" in collectors.run(status=2).output
    assert (collectors.reason(), live.names("Deployment")) == ("ReferenceNotFound", set())
    live.create(secret("login", "first"))
    collectors.run()
    before = collectors.pod_template()
    live.merge("Secret", "login", {"metadata": {"labels": {"another": "label"}}})
    assert not collectors.run().changed

    live.merge("Secret", "login", {"stringData": {"TEXT": "second"}})
    assert "upgrade release telemetry" in collectors.run().output
    after = collectors.pod_template()
    name = "checksum/environment"
    assert before["metadata"]["annotations"].pop(name) != after["metadata"]["annotations"].pop(name)
    assert before == after
    assert not collectors.run().changed
    assert collectors.revision() == 2
    # the release goes without it
    live.delete("Secret", "login")
    collectors.run(state="absent", wait=True)
    assert live.names("Deployment") == set()
