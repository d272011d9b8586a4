# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The migration guide names all annotations, conditions, results, options and settings that the Go operator lacks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, status
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import COLLECTOR
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import spec as ingestion_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs" / "migration-from-the-go-operator.md"
HEADING = "\n## 9. Names that the Go operator does not have\n"
GO_OPERATORS = {names.RESOURCE_HASH_ANNOTATION}
GO_VARIABLES = {"DENY_LIST", "MAX_CONCURRENT_RECONCILES", "RECONCILE_WAIT", "WATCH_NAMESPACE"}
# ansible-operator sets it.
GO_VARIABLES |= {"K8S_AUTH_KUBECONFIG"}
# The sections of values.yaml in the Go operator's chart, and single values.
GO_VALUES = {"global", "env", "image", "livenessProbe", "readinessProbe", "serviceAccount", "podSecurityContext"}
GO_VALUES |= {"securityContext", "resources", "crd", "replicaCount", "imagePullSecrets", "nameOverride", "extraArgs"}
GO_VALUES |= {"fullnameOverride", "podAnnotations", "podLabels", "nodeSelector", "tolerations", "affinity"}


def rows() -> dict[str, list[str]]:
    """Return the cells of each row, by the names in its first cell."""
    section = GUIDE.read_text(encoding="utf-8").partition(HEADING)[2]
    found = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line[:3] == "| `"
    ]
    return {name: cells for cells in found for name in re.findall(r"`([^`]+)`", cells[0])}


def annotations() -> set[str]:
    """Return the annotations that the code of both kinds names."""
    constants = {**vars(names), **vars(ingestion_spec)}
    return {value for name, value in constants.items() if name.endswith("_ANNOTATION")} - GO_OPERATORS


@pytest.mark.parametrize("name", sorted(annotations()))
def test_every_annotation_has_a_row(name: str) -> None:
    assert name in rows(), f"{GUIDE.name} has no row for the annotation {name}: add one to the table{HEADING.rstrip()}"
    assert "annotation" in rows()[name][1]


def test_conditions_events_and_results_have_a_row() -> None:
    expected = {status.WARNINGS, status.ROLLOUT_WARNINGS, reasons.SPEC_WARNING, reasons.ROLLOUT_WARNING, "destructive"}
    assert expected - rows().keys() == set()


@pytest.mark.parametrize("name", sorted({*ARGUMENTS, *DRUID.arguments, *INGESTION.arguments, *COLLECTOR.arguments}))
def test_every_option_has_a_row(name: str) -> None:
    assert "option" in rows()[name][1]


def variables() -> set[str]:
    """Return the environment variables that the playbooks, the image and its programs, and the Deployment use."""
    playbooks = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "playbooks").glob("operator_*.yml"))
    image = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "build").iterdir() if file.is_file())
    documents = yaml.safe_load_all((ROOT / "config" / "manager" / "manager.yaml").read_text(encoding="utf-8"))
    [pod] = [each["spec"]["template"]["spec"] for each in documents if each["kind"] == "Deployment"]
    return {
        *re.findall(r"'ansible\.builtin\.env', '(\w+)'", playbooks),
        *re.findall(r"\bDRUIDOPS_\w+", image),
        *(each["name"] for each in pod["containers"][0]["env"]),
        *values()["env"],
    } - GO_VARIABLES


def values() -> dict[str, Any]:
    """Return the default values of the chart."""
    text = (ROOT / "charts" / "druid-operator" / "values.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


@pytest.mark.parametrize("name", sorted(variables()))
def test_every_variable_of_the_operator_has_a_row(name: str) -> None:
    assert "environment variable" in rows()[name][1]


def test_every_value_of_the_chart_has_a_row() -> None:
    sections = {name: section for name, section in values().items() if name not in GO_VALUES}
    nested = {name: section for name, section in sections.items() if isinstance(section, dict)}
    expected = {f"{name}.{key}" for name, section in nested.items() for key in section}
    expected |= sections.keys() - nested.keys()
    assert expected
    assert {name for name in expected if re.match("values? of the chart", rows()[name][1])} == expected


def test_every_row_has_all_cells() -> None:
    assert {len(cells) for cells in rows().values()} == {4, 5}
    assert [name for name, cells in rows().items() if not all(cells)] == []
