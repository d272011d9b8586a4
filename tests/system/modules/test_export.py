# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What other clients have set up is exported as a playbook, which changes nothing, and shows no secret."""

from __future__ import annotations

import gzip
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_lookups import remove_lookups
from ansible_collections.druidops.druid.tests.system.support.druid_modules import Modules, modules_on
from ansible_collections.druidops.druid.tests.system.support.druid_users import Right, remove_users, user_with
from ansible_collections.druidops.druid.tests.system.support.playbook import Run
from ansible_collections.druidops.druid.tests.system.support.supervisor_specs import CASES
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_33, druid_basic, share_druid
from testbed.proxy import Answer, Forward, Go, Loss, Request, Upstream, proxy

__all__ = ["druid", "druid_33", "druid_basic", "share_druid"]

COORDINATOR, OVERLORD = "/druid/coordinator/v1", "/druid/indexer/v1"
SECURITY = "/druid-ext/basic-security"
# What a user may have in any text, in YAML, Jinja and Ansible.
TEMPLATES = ["{{ lookup('pipe', 'false') }}", "{% raw %}", "a {# b", "#jinja2: trim_blocks:False"]
TEXTS = [*TEMPLATES, "NO", "010", "", "a\nb: #c"]
PASSWORDS = ["hunter2-of-kafka", '{"hunter2": "of-jdbc"}']


@pytest.fixture
def name(druid_33: Druid) -> Iterator[str]:
    name = f"x{secrets.token_hex(4)}"
    yield name
    for supervisor in (name, f"autocompact__{name}"):
        if supervisor in druid_33.request("GET", f"{OVERLORD}/supervisor"):
            druid_33.request("POST", f"{OVERLORD}/supervisor/{supervisor}/terminate")
    druid_33.request("POST", f"{COORDINATOR}/rules/{name}", [])
    druid_33.request("DELETE", f"{OVERLORD}/compaction/config/datasources/{name}")
    remove_lookups(druid_33, name)


def set_up(druid: Druid, name: str) -> None:
    """Set up one of each kind, by requests as other clients send them."""
    texts = {text: text for text in TEXTS}
    connector = {"connectURI": "jdbc:derby://127.0.0.1:1/d", "user": "u", "password": PASSWORDS[1]}
    jdbc = {"type": "jdbc", "connectorConfig": connector, "table": "t", "keyColumn": "k", "valueColumn": "v"}
    druid.request("POST", f"{COORDINATOR}/lookups/config", {})
    for tier, each, factory in (
        ("__default", name, {"type": "map", "map": texts}),
        (f"tier {name}", name, {"type": "cachedNamespace", "extractionNamespace": jdbc}),
        (f"tier {name}", f"{name} {{{{ id }}}}", {"type": "of-another-extension", "nothing": None}),
    ):
        path = f"{COORDINATOR}/lookups/config/{tier}/{each}".replace(" ", "%20").replace("{", "%7B").replace("}", "%7D")
        druid.request("POST", path, {"version": "v1", "lookupExtractorFactory": factory})
    rules = [{"type": "loadByPeriod", "period": "P1M", "tieredReplicants": {"hot": 1}}, {"type": "dropForever"}]
    druid.request("POST", f"{COORDINATOR}/rules/{name}", rules)
    compaction = {"dataSource": name, "taskPriority": 30, "taskContext": {"note": TEXTS[0]}}
    druid.request("POST", f"{COORDINATOR}/config/compaction", compaction)


@pytest.mark.xdist_group("cluster-wide")
def test_druid_that_others_have_set_up(druid_33: Druid, name: str, tmp_path: Path) -> None:
    assert druid_33.kafka
    set_up(druid_33, name)
    spec = CASES["an autoscaler"].spec(name, druid_33.kafka.address)
    spec["spec"]["ioConfig"]["consumerProperties"] |= {"ssl.key.password": PASSWORDS[0], "client.id": TEXTS[0]}
    druid_33.request("POST", f"{OVERLORD}/supervisor", {**spec, "context": {"notes": TEXTS}})

    with of_one(druid_33.upstream, name) as upstream, modules_on(druid_33, tmp_path, upstream=upstream) as modules:
        run = verify_export(modules, dict(zip(variables(name), PASSWORDS, strict=True)))
        for module in ("supervisor", "compaction", "retention_rules", "lookup", "dynamic_config"):
            assert f"druidops.druid.{module}:" in (tmp_path / "druid.yml").read_text(encoding="utf-8")
        assert "druidops.druid.role:" not in run.output
        refuses_another_file(modules)


def variables(name: str) -> list[str]:
    return [f"vault_{name}_ssl_key_password", f"vault_tier_{name}_{name}_password"]


@campaign("a Druid without logins; users and roles by their modules")
@pytest.mark.xdist_group("permissions")
def test_basic_security(druid_basic: Druid, tmp_path: Path) -> None:
    name = f"x{secrets.token_hex(4)}"

    def send(part: str, path: str, body: Any = None) -> None:
        druid_basic.request("POST", f"{SECURITY}/{part}/db/basic/{path}", body, server="coordinator")

    try:
        set_up(druid_basic, name)
        for each in (name, f"{name}_login"):
            send("authentication", f"users/{each}")
            send("authentication", f"users/{each}/credentials", {"password": "hunter2-of-a-user"})
        for each in (name, f"{name}_directory"):
            send("authorization", f"users/{each}")
        for each in (name, f"{name}_empty"):
            send("authorization", f"roles/{each}")
        reads = {"resource": {"type": "DATASOURCE", "name": ".*"}, "action": "READ"}
        send("authorization", f"roles/{name}/permissions", [reads])
        send("authorization", f"users/{name}/roles/{name}")
        send("authorization", f"groupMappings/{name}", {"name": name, "groupPattern": "CN={{ a }}", "roles": [name]})
        with modules_on(druid_basic, tmp_path) as modules:
            verify_export(modules, {variables(name)[1]: PASSWORDS[1]})
            exported = (tmp_path / "druid.yml").read_text(encoding="utf-8")
            assert f"id: {name}_directory" in exported
            assert "id: druid_system" not in exported
            assert "id: admin" not in exported
        with user_with(druid_basic, [Right("CONFIG", "CONFIG", "READ"), Right("STATE", "STATE", "READ")]) as login:
            refused = {"username": login.username, "password": login.password, "url": druid_basic.url, "path": "no.yml"}
            [failed] = modules.ansible.tasks({"druidops.druid.export": refused}, options=("-v",), status=2).results
            assert "READ on CONFIG security" in failed["msg"]
            assert "list them in kinds" in failed["msg"]
            kinds = ["lookups", "configs", "retention_rules", "compactions", "supervisors"]
            modules.ansible.tasks({"druidops.druid.export": {**refused, "kinds": kinds}})
    finally:
        remove_users(druid_basic, name)
        druid_basic.request("POST", f"{COORDINATOR}/rules/{name}", [])
        druid_basic.request("DELETE", f"{COORDINATOR}/config/compaction/{name}")
        remove_lookups(druid_basic, name)


def verify_export(modules: Modules, secret: dict[str, str]) -> Run:
    """Export, run the playbook, and export again: only the first one changes something, the file.

    ``secret``: the secrets, by the names of their variables without the digest.
    """
    file = modules.ansible.directory / "druid.yml"
    predicted = export(modules, "--check")
    assert (predicted.changed, file.exists()) == (True, False)
    first = export(modules)
    assert first.changed
    assert file.stat().st_mode & 0o777 == 0o600
    names = [each["name"] for each in first.results[0]["variables"]]
    assert sorted(each.rpartition("_")[0] for each in names) == sorted(secret)
    modules.proxy.clear()
    variables = modules.ansible.write("secrets.json", {each: secret[each.rpartition("_")[0]] for each in names})
    run = modules.ansible.run("druid.yml", "--diff", "-v", "--extra-vars", variables, **modules.environment)
    assert not run.changed, run.output
    assert "WARNING" not in run.output
    again = export(modules)
    assert not again.changed, again.output
    assert modules.proxy.writes == []
    for text in (file.read_text(encoding="utf-8"), predicted.output, first.output, run.output, again.output):
        assert "hunter2" not in text
    return run


def export(modules: Modules, *options: str, status: int = 0, **arguments: Any) -> Run:
    task = {"druidops.druid.export": {"path": "druid.yml", **arguments}}
    return modules.ansible.tasks(
        task, options=("-v", "--diff", *options), status=status, environment=modules.environment
    )


def refuses_another_file(modules: Modules) -> None:
    """A file that was changed since is replaced only if that is asked for, and not shown."""
    file = modules.ansible.directory / "druid.yml"
    exported = file.read_bytes()
    file.write_bytes(exported + b"# hunter2\n")
    file.chmod(0o640)
    for options in ((), ("--check",)):
        run = export(modules, *options, status=2)
        assert "not an export, or was changed since" in run.output
    assert file.read_bytes() == exported + b"# hunter2\n"
    run = export(modules, force=True)
    assert run.changed
    assert "hunter2" not in run.output
    assert file.read_bytes() == exported
    assert file.stat().st_mode & 0o777 == 0o640


@contextmanager
def of_one(upstream: Upstream, name: str) -> Iterator[Upstream]:
    """A Druid that lists only what has this name, since others share it."""
    lists = (f"{OVERLORD}/supervisor?", f"{COORDINATOR}/rules", "config/datasources", "lookups/config/all")

    def listed(request: Request, forward: Forward) -> Answer | Loss:
        answer = forward(request)
        if not isinstance(answer, Answer) or answer.status != 200:
            return answer
        headers = {field.lower(): value for field, value in answer.headers}
        body = gzip.decompress(answer.body) if headers.pop("content-encoding", "") == "gzip" else answer.body
        return Answer(200, (*headers.items(),), json.dumps(only(json.loads(body), name)).encode())

    def react(request: Request) -> Go | None:
        is_list = request.method == "GET" and any(each in request.path for each in lists)
        return listed if is_list and name not in request.path else None

    with proxy(upstream, react) as url:
        yield Upstream(url)


def only(found: Any, name: str) -> Any:
    if isinstance(found, list):
        return [each for each in found if name in json.dumps(each)]
    return {
        key: only(value, name) if key in ("compactionConfigs", "__default") else value
        for key, value in found.items()
        if key in ("compactionConfigs", "__default") or name in key
    }
