# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The examples of the modules on Druid's API, of docs/druid-modules.md and of the README run exactly as documented.

Only the addresses of Druid and Kafka are replaced.
"""

from __future__ import annotations

import importlib
import json
import re
import secrets
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support.druid_lookups import remove_lookups
from ansible_collections.druidops.druid.tests.system.support.druid_users import remove_users
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from ansible_collections.druidops.druid.tests.system.support.supervisor_specs import CASES
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_27, druid_33, druid_basic, share_druid
from testbed.other_release import other_release

__all__ = ["druid", "druid_27", "druid_33", "druid_basic", "share_druid"]

ROOT = Path(__file__).parents[3]
ACTION_GROUP = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text(encoding="utf-8"))["action_groups"]["druid"]
MODULES = ("supervisor", "supervisor_info", "task", "task_info")
# These have a test of their own, because they require another release.
OTHER_RELEASES = ("sql_ingest",)
# These require basic security. Their order is the one in which they need one another.
SECURITY = ("role", "user", "group_mapping", "user_info", "role_info", "group_mapping_info")
# These take a server out of use, which other tests need: test_servers.py.
SERVERS = ("worker", "historical")
# The others may concern settings that a Druid has once, so their examples run one after the other.
IN_TURN = sorted({name.rpartition(".")[2] for name in ACTION_GROUP} - {*MODULES, *OTHER_RELEASES, *SECURITY, *SERVERS})
DOCUMENTS = (ROOT / "docs" / "druid-modules.md", ROOT / "README.md")
# The names in the examples; each run has its own names, since all tests share one Druid.
NAMES = ("wikipedia", "visits", "clicks", "orders", "retired", "countries", "customers")


def examples(module: str) -> list[dict[str, Any]]:
    found = importlib.import_module(f"ansible_collections.druidops.druid.plugins.modules.{module}")
    return list(yaml.safe_load(found.EXAMPLES))


def documented(*documents: Path) -> list[dict[str, Any]]:
    """Return the tasks in the documents, including those of their plays."""
    text = "".join(document.read_text(encoding="utf-8") for document in documents)
    blocks = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    examples = [yaml.safe_load(block) for block in blocks]
    # a mapping is a resource
    entries = [entry for example in examples if isinstance(example, list) for entry in example]
    return [task for entry in entries for task in entry.get("tasks", [entry])]


@pytest.mark.parametrize("module", MODULES)
def test_examples(module: str, druid: Druid, tmp_path: Path) -> None:
    run_in_order(druid, tmp_path, examples(module))


def is_of_brokers(task: dict[str, Any]) -> bool:
    """True for an example that requires Druid 37."""
    return "broker" in task.get("druidops.druid.dynamic_config", {})


@pytest.mark.xdist_group("cluster-wide")
def test_examples_in_turn(druid: Druid, tmp_path: Path) -> None:
    """The first one ingests the datasource whose segments are then marked and deleted."""
    tasks = [task for module in IN_TURN for task in examples(module) if not is_of_brokers(task)]
    tasks.insert(0, examples("task")[0])
    run_in_order(druid, tmp_path, tasks)


def test_examples_of_brokers(druid_33: Druid, tmp_path: Path) -> None:
    tasks = [*filter(is_of_brokers, examples("dynamic_config"))]
    with other_release("37.0.0", druid_33.upstream) as newer:
        run_in_order(druid_33, tmp_path, tasks, newer.url)


def test_examples_of_sql_ingestion(druid_27: Druid, tmp_path: Path) -> None:
    run_in_order(druid_27, tmp_path, examples("sql_ingest"))


@pytest.mark.xdist_group("permissions")
def test_examples_of_security(druid_basic: Druid, tmp_path: Path) -> None:
    """The administrator has both passwords in the examples, so that none changes."""
    tasks = [task for module in SECURITY for task in examples(module)]
    login = druid_basic.credentials
    assert login is not None
    text = json.dumps([*documented(ROOT / "docs" / "permissions.md"), *tasks])
    text = text.replace("http://localhost:8888", druid_basic.url)
    text = re.sub(r"\{\{ vault_(admin|initial)_password \}\}", login.password, text)
    text = re.sub(r"\{\{ vault_\w+ \}\}", secrets.token_hex(8), text)
    environment = {"DRUID_URL": druid_basic.url, "DRUID_USERNAME": login.username, "DRUID_PASSWORD": login.password}
    try:
        Ansible(CORES["2.19"], None, "", tmp_path).tasks(*json.loads(text), environment=environment)
    finally:
        for name in ("clicks", "analyst", "operators", "monitoring"):
            remove_users(druid_basic, name)


@pytest.mark.xdist_group("cluster-wide")
def test_document(druid: Druid, tmp_path: Path) -> None:
    """The waiting is for a supervisor of the first example, so that comes first."""
    run_in_order(druid, tmp_path, [examples("supervisor")[0], *documented(*DOCUMENTS)])


def run_in_order(druid: Druid, directory: Path, tasks: list[dict[str, Any]], url: str | None = None) -> None:
    kafka = druid.kafka.address if druid.kafka else "nowhere:1"
    ending = secrets.token_hex(4)
    if druid.kafka:
        druid.kafka.make_topic(f"wikipedia{ending}")
    for name in ("clicks", "orders"):
        spec = CASES["hardly anything"].spec(f"{name}{ending}", kafka)
        text = json.dumps(spec if name == "orders" else {**spec, "suspended": False})
        for place in (directory, directory / "supervisors"):
            place.mkdir(exist_ok=True)
            (place / f"{name}{ending}.json").write_text(text, encoding="utf-8")
    text = json.dumps(tasks).replace("http://localhost:8888", url or druid.url).replace("kafka:9092", kafka)
    text = re.sub(rf"\b({'|'.join(NAMES)})\b(?!\"?: )", rf"\g<1>{ending}", text)
    ansible = Ansible(CORES["2.19"], None, "", directory)
    try:
        ansible.tasks(*json.loads(text), environment={"DRUID_URL": url or druid.url})
    finally:
        leave_nothing(druid, ending)


def leave_nothing(druid: Druid, ending: str) -> None:
    for supervisor in druid.request("GET", "/druid/indexer/v1/supervisor"):
        if supervisor.endswith(ending):
            druid.request("POST", f"/druid/indexer/v1/supervisor/{supervisor}/terminate")
    for name in NAMES:
        druid.remove_datasource(f"{name}{ending}")
    compaction = "/druid/coordinator/v1/config/compaction"
    for config in druid.request("GET", compaction)["compactionConfigs"]:
        if config["dataSource"].endswith(ending):
            druid.request("DELETE", f"{compaction}/{config['dataSource']}")
    remove_lookups(druid, ending)
    for datasource in druid.request("GET", "/druid/coordinator/v1/rules"):
        if datasource.endswith(ending):
            druid.request("POST", f"/druid/coordinator/v1/rules/{datasource}", [])
