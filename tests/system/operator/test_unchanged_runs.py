# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run with the inputs of the last one is without the playbook; one of an unchanged cluster only reads again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.support import image, small_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.image import ImageOperator
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from testbed.operator.resident import DIRECTORY

NAME = "c"
# Ordinary runs are always the playbook's.
WARM = {DIRECTORY: "/tmp/warm-runner"}
BROKERS = f"druid-{NAME}-brokers"
ONLY_READ = "its playbook was not run"
WITHOUT_PLAYBOOK = "the playbook was not run"


def outputs(operator: ImageOperator) -> list[str]:
    """Return what the runs that have ended have printed, the last one last."""
    return [text for _time, text in sorted(filter(None, map(_end, operator.ended)))]


def _end(run: Path) -> tuple[int, str] | None:
    """Return when a run has ended and what it has printed; None if the operator has deleted it meanwhile."""
    try:
        return (run / "rc").stat().st_mtime_ns, (run / "stdout").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def is_idle(operator: ImageOperator) -> bool:
    """True if the last run has only read again."""
    found = outputs(operator)
    return bool(found) and ONLY_READ in found[-1]


def test_unchanged_cluster_is_only_read_again(image_layout: Path, live: NamespaceClient, tmp_path: Path) -> None:
    with image.started(image_layout, live, tmp_path, RECONCILE_WAIT="2s", **WARM) as operator:
        live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
        operator.wait_until_ready(NAME)
        eventually(lambda: is_idle(operator))
        version, lines = live.get("Druid", NAME)["metadata"]["resourceVersion"], operator.lines()
        eventually(lambda: len(operator.lines()) > len(lines) + 1)

        assert live.get("Druid", NAME)["metadata"]["resourceVersion"] == version
        last: dict[str, Any] = operator.lines()[-1]
        assert (last["changed"], last["done"], last["ready"], last["name"]) == (False, [], "True", NAME)
        assert last["time"] >= lines[-1]["time"]
        assert operator.log.read_text() == ""

        live.delete("Service", BROKERS)
        eventually(lambda: live.find("Service", BROKERS))
        live.merge("PodDisruptionBudget", BROKERS, {"spec": {"maxUnavailable": 7}})
        eventually(lambda: live.get("PodDisruptionBudget", BROKERS)["spec"]["maxUnavailable"] == 1)
        live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"replicas": 2}}}})
        eventually(lambda: live.get("StatefulSet", BROKERS)["spec"]["replicas"] == 2)
        eventually(lambda: is_idle(operator))

        live.delete("Druid", NAME)
        eventually(lambda: live.find("Druid", NAME) is None)


def test_each_reconcile_is_a_full_one_on_request(image_layout: Path, live: NamespaceClient, tmp_path: Path) -> None:
    settings = {**WARM, "RECONCILE_WAIT": "1s", "DRUIDOPS_FULL_RECONCILE_PERIOD": "0"}
    with image.started(image_layout, live, tmp_path, **settings) as operator:
        live.create(small_cluster.resource(NAME))
        operator.wait_until_settled(NAME)
        lines = len(operator.lines())
        eventually(lambda: len(operator.lines()) > lines + 2)
        assert not any(text in each for each in outputs(operator) for text in (ONLY_READ, WITHOUT_PLAYBOOK))


def reconciled(operator: ImageOperator) -> list[str]:
    """Return what the runs that reconciled without the playbook have printed."""
    return [each for each in outputs(operator) if WITHOUT_PLAYBOOK in each]


def test_changed_cluster_is_reconciled_without_the_playbook(
    image_layout: Path, live: NamespaceClient, tmp_path: Path
) -> None:
    # the period is long: only requests to repeat a run, and changes, start one
    with image.started(image_layout, live, tmp_path, RECONCILE_WAIT="1h", **WARM) as operator:
        live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
        operator.wait_until_ready(NAME)
        operator.wait_until_settled(NAME)
        live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"replicas": 0}}}})
        eventually(lambda: any("update StatefulSet druid-c-brokers" in each for each in reconciled(operator)))
        operator.wait_until_settled(NAME)
        assert live.get("StatefulSet", BROKERS)["spec"]["replicas"] == 0

        # an object of another client is reported, and the run is repeated
        live.create({"kind": "ConfigMap", "metadata": {"name": f"druid-{NAME}-others-config"}})
        others = {**small_cluster.spec()["nodes"]["brokers"], "replicas": 0}
        live.merge("Druid", NAME, {"spec": {"nodes": {"others": others}}})
        eventually(lambda: condition(live.get("Druid", NAME), "Degraded")["status"] == "True")
        eventually(lambda: "error" in {line["level"] for line in operator.lines()})
        live.delete("ConfigMap", f"druid-{NAME}-others-config")
        eventually(lambda: live.find("StatefulSet", f"druid-{NAME}-others"))
        operator.wait_until_settled(NAME)
        assert operator.log.read_text() == ""

        live.delete("Druid", NAME)
        eventually(lambda: live.find("Druid", NAME) is None)
