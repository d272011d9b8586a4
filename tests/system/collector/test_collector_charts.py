# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts from a repository by HTTPS, and from a registry, where the administrator allows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.collector import chart_sources
from ansible_collections.druidops.druid.tests.system.collector.conftest import Collectors, resource
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.registry import registry

# What Helm would replace with an environment variable, and a template.
TEXT = "${HOME} {{ .Release.Name }}"


def chart(repository: str, version: str = "1.0.0") -> dict[str, Any]:
    return {"repository": repository, "name": chart_sources.NAME, "version": version}


def note(live: NamespaceClient) -> dict[str, str]:
    found: dict[str, str] = live.get("ConfigMap", "telemetry")["data"]
    return found


def test_repository(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    archives = tmp_path / "archives"
    for version in ("1.0.0", "1.1.0"):
        chart_sources.packaged(archives, version)
    trust = {"SSL_CERT_FILE": str(live.plane.ca_file)}
    with chart_sources.repository(live.plane, archives) as repository:
        live.create(resource(chart=chart(repository.url), values={"text": TEXT}))
        # of another path on the same server
        others = [repository.url.removesuffix("/charts"), f"{repository.url}/charts"]
        refused = collectors.run(status=2, environment=trust, allowed_chart_repositories=others)
        assert "does not allow" in refused.output
        assert (collectors.reason(), repository.requests) == ("ChartNotAllowed", [])

        allowed: dict[str, Any] = {"allowed_chart_repositories": [repository.url]}
        assert "certificate signed by unknown authority" in collectors.run(status=2, **allowed).output
        assert collectors.reason() == "HelmFailed"
        assert "install release" in collectors.run(environment=trust, **allowed).output
        assert note(live) == {"version": "1.0.0", "text": TEXT}
        assert collectors.status()["release"]["chart"] == "notes-1.0.0"
        before = len(repository.requests)
        assert not collectors.run(environment=trust, **allowed).changed
        assert len(repository.requests) == before

        live.merge("Collector", "telemetry", {"spec": {"chart": {"version": "1.1.0"}}})
        planned = collectors.run(check_mode=True, environment=trust, **allowed)
        assert "update ConfigMap telemetry" in planned.output
        collectors.run(environment=trust, **allowed)
        assert (note(live)["version"], collectors.revision()) == ("1.1.0", 2)
        live.merge("Collector", "telemetry", {"spec": {"chart": {"version": "2.0.0"}}})
        assert "2.0.0" in collectors.run(status=2, environment=trust, **allowed).output
        assert (collectors.reason(), note(live)["version"]) == ("HelmFailed", "1.1.0")
    # neither the repository nor its permission is needed to uninstall
    collectors.run(state="absent", wait=True)
    eventually(lambda: live.find("ConfigMap", "telemetry") is None)


def test_registry(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    authority = live.plane.ca_file
    files = authority.parent
    archive = chart_sources.packaged(tmp_path / "archives", "1.0.0+build.7")
    trust = {"SSL_CERT_FILE": str(authority)}
    with registry(tmp_path / "registry", files / "apiserver.crt", files / "apiserver.key") as server:
        url, login = f"oci://{server.address}/charts", str(server.credentials)
        chart_sources.run("push", str(archive), url, "--ca-file", str(authority), HELM_REGISTRY_CONFIG=login)
        live.create(resource(chart=chart(url, "1.0.0+build.7"), values={"text": TEXT}))
        allowed: dict[str, Any] = {"allowed_chart_repositories": [url], "environment": trust}
        assert "does not allow" in collectors.run(status=2, helm_registry_config=login, environment=trust).output
        # the credentials of the shell are not used: only those of the administrator
        shell = {**trust, "HELM_REGISTRY_CONFIG": login, "DOCKER_CONFIG": str(server.credentials.parent)}
        assert "credential not found" in collectors.run(status=2, **{**allowed, "environment": shell}).output
        assert live.find("ConfigMap", "telemetry") is None

        collectors.run(helm_registry_config=login, **allowed)
        assert note(live) == {"version": "1.0.0+build.7", "text": TEXT}
        assert not collectors.run(helm_registry_config=login, **allowed).changed
        assert collectors.revision() == 1
    collectors.run(state="absent", wait=True)
