# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-in of ansible-operator reads watches.yaml."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.testbed.operator.kinds import Kind
from ansible_collections.druidops.druid.tests.testbed.operator.settings import settings
from ansible_collections.druidops.druid.tests.testbed.operator.watches import Finalizer, WatchesError, load

ROOT = Path(__file__).parents[3]
FLAGS = settings(["run", "--max-concurrent-reconciles=3"], {})


def test_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable of the environment is put in, paths are relative to the working directory."""
    monkeypatch.chdir(ROOT)
    watch, *others = load((ROOT / "watches.yaml").read_text(encoding="utf-8"), {"RECONCILE_WAIT": "1m30s"}, FLAGS)
    playbook = ROOT / "playbooks" / "operator_druid.yml"
    assert watch.kind == Kind("druid.apache.org", "v1alpha1", "Druid")
    assert watch.playbook == playbook
    assert watch.finalizer == Finalizer("deletepvc.finalizers.druid.apache.org", playbook)
    assert (watch.reconcile_period, watch.max_runner_artifacts, watch.workers) == (90, 6, 3)
    assert [each.kind.kind for each in others] == [
        "DruidIngestion",
        "DruidLookup",
        "DruidRole",
        "DruidUser",
        "Collector",
    ]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"reconcilePeriod": "${RECONCILE_WAIT}"}, "duration"),
        ({"manageStatus": True}, "manageStatus"),
        ({"playbook": "none.yml"}, "not found"),
        ({"blacklist": []}, "does not know blacklist"),
    ],
)
def test_rejected(tmp_path: Path, change: dict[str, object], why: str) -> None:
    """Including what the stand-in does not support."""
    file = tmp_path / "play.yml"
    file.touch()
    fixed = {"manageStatus": False, "snakeCaseParameters": False, "markUnsafe": True, "watchAnnotationsChanges": True}
    entry = {"group": "a", "version": "v1", "kind": "A", "playbook": str(file), "reconcilePeriod": "1s", **fixed}
    assert load(json.dumps([entry]), {}, FLAGS)
    with pytest.raises(ValueError, match=why) as error:
        load(json.dumps([{**entry, **change}]), {}, FLAGS)
    assert isinstance(error.value, WatchesError) or why == "duration"
