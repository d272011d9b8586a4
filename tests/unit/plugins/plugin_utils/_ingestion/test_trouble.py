# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is in the way is told in the words of the resource."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.module_utils._errors import Unauthorized, Unreachable
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import trouble

WHERE = ("POST", "http://druid:8888/x")


def test_names_the_fields_of_the_resource() -> None:
    untrusted = trouble.finding(Unreachable(*WHERE, "not trusted", "Set ca_path to the CA"))
    assert untrusted.message.endswith("Set ca_path to the CA. Here ca_path is spec.endpoint.caSecretRef.")
    nowhere = trouble.finding(Unreachable(*WHERE, "unknown", "Check the option url, or client_cert"))
    assert "Here url is spec.endpoint.url, or leads to the router of spec.druidCluster; client_cert" in nowhere.message
    assert "Here" not in trouble.finding(Unreachable(*WHERE, "cut off")).message
    assert "spec.auth.secretRef" in trouble.finding(Unauthorized(401, "", *WHERE)).message
