# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Helm's modules are called with, and what is left afterwards."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import MODULE, TEMPLATE, Helm, HelmError
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import remote_chart
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import ChartAddress
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import Chart, Target

CHART = Chart("c", "1.0.0", "/charts/c")
VALUES = {"config": "{{ text }}\u0085 \U0001f600"}
TARGET = Target("telemetry", "tenant", CHART, VALUES)


class Modules:
    """Records the calls, and what is in the files while they run."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.result = result
        self.calls: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.values: Any = None
        self.modes: set[int] = set()

    def __call__(self, name: str, arguments: Mapping[str, Any], environment: Mapping[str, str]) -> Mapping[str, Any]:
        self.calls.append((name, dict(arguments), dict(environment)))
        for file in map(Path, arguments.get("values_files", ())):
            self.values = json.loads(file.read_text(encoding="utf-8"))
            self.modes |= {stat.S_IMODE(each.stat().st_mode) for each in (file, file.parent)}
        if name == TEMPLATE:
            output = Path(arguments["output_dir"]) / "c" / "templates"
            output.mkdir(parents=True)
            (output / "a.yaml").write_text("---\nkind: Secret\napiVersion: v1\nmetadata: {name: a}\n")
        return self.result


def helm(modules: Modules, directory: Path) -> Helm:
    return Helm(modules, {"host": "https://h"}, {"KUBECONFIG": "/k"}, "/bin/sh", str(directory))


def test_values_are_in_a_private_file_that_is_deleted(tmp_path: Path) -> None:
    modules = Modules({})
    helm(modules, tmp_path).deploy(TARGET, 60, skip_crds=True)
    assert (modules.values, modules.modes) == (VALUES, {0o600, 0o700})
    [(name, arguments, environment)] = modules.calls
    assert name == MODULE
    assert not {"release_values", "set_values", "chart_repo_url", "chart_version"} & arguments.keys()
    found = {
        key: arguments[key] for key in ("release_name", "release_namespace", "chart_ref", "timeout", "binary_path")
    }
    assert [*found.values()][:-1] == ["telemetry", "tenant", "/charts/c", "60s"]
    assert Path(found["binary_path"]).is_relative_to(tmp_path)
    assert arguments["skip_crds"] is True
    assert not {"wait", "atomic"} & arguments.keys()
    assert (environment["KUBECONFIG"], Path(environment["HELM_PLUGINS"]).parent.parent) == ("/k", tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_rendered_objects(tmp_path: Path) -> None:
    modules = Modules({})
    rendered = helm(modules, tmp_path).rendered(TARGET)
    assert [each["kind"] for each in rendered.objects] == ["Secret"]
    assert rendered.target == TARGET
    # it is not connected
    assert "host" not in modules.calls[0][1]
    assert [*tmp_path.iterdir()] == []


def test_account_of_the_tenant(tmp_path: Path) -> None:
    modules = Modules({})
    acting = replace(helm(modules, tmp_path), service_account="deployer")
    acting.deploy(TARGET, 60, skip_crds=True)
    acting.uninstall("telemetry", "tenant")
    helm(modules, tmp_path).deploy(TARGET, 60, skip_crds=True)
    user = "system:serviceaccount:tenant:deployer"
    assert [environment["HELM_KUBEASUSER"] for _name, _arguments, environment in modules.calls] == [user, user, ""]


def test_message_of_helm(tmp_path: Path) -> None:
    failed = {
        "failed": True,
        "msg": "Failure when executing Helm command: all of it",
        "stderr": "W: a\nError: it failed\nc:\n- (root): no x\n",
    }
    with pytest.raises(HelmError) as error:
        helm(Modules(failed), tmp_path).uninstall("telemetry", "tenant")
    assert str(error.value) == "Helm: it failed c: - (root): no x"
    quoted = {"failed": True, "stderr": f'Error: cannot patch: Invalid value: "{{{"a" * 5000}}}": must match'}
    with pytest.raises(HelmError, match=r"^Helm: cannot patch: Invalid value: \.\.\.: must match$"):
        helm(Modules(quoted), tmp_path).uninstall("telemetry", "tenant")
    with pytest.raises(HelmError, match="no module"):
        helm(Modules({"failed": True, "msg": "no module"}), tmp_path).deploy(TARGET, 60, skip_crds=True)
    assert [*tmp_path.iterdir()] == []


def test_directory_whose_path_the_command_line_would_change(tmp_path: Path) -> None:
    directory = tmp_path / "a b"
    directory.mkdir()
    modules = Modules({})
    with pytest.raises(HelmError, match="ANSIBLE_LOCAL_TEMP"):
        helm(modules, directory).deploy(TARGET, 60, skip_crds=True)
    assert (modules.calls, [*directory.iterdir()]) == ([], [])


def test_repositories() -> None:
    assert remote_chart(ChartAddress("https://c.example.com", "c", "1.0.0")) == Chart(
        "c", "1.0.0", "c", "https://c.example.com", "1.0.0"
    )
    assert remote_chart(ChartAddress("oci://r.example.com/a", "c", "1.0.0")) == Chart(
        "c", "1.0.0", "oci://r.example.com/a/c", None, "1.0.0"
    )
