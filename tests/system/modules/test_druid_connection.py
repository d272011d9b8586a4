# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How modules connect to a Druid with authentication and TLS, and their messages if they cannot."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Forbidden, Unauthorized, Unreachable
from ansible_collections.druidops.druid.tests.system.support.campaign import EACH_CORE
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible, Run
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_basic, druid_mutual_tls, share_druid

__all__ = ["druid", "druid_basic", "druid_mutual_tls", "share_druid"]

LIST = "/druid/indexer/v1/supervisor"


def ask(**arguments: Any) -> Any:
    """Ask a Druid, reached like this, for its supervisors."""
    with DruidClient(Connection(**{"retry_timeout": 0, **arguments})) as client:
        return client.get(LIST)


@contextmanager
def unresponsive() -> Iterator[str]:
    """A server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_with_a_password(druid_basic: Druid) -> None:
    login = druid_basic.credentials
    assert login is not None
    for url in (druid_basic.url, druid_basic.overlord_url):
        assert isinstance(ask(urls=(url,), username=login.username, password=login.password), list)
        with pytest.raises(Unauthorized, match=r"401 Unauthorized.*username"):
            ask(urls=(url,))
        with pytest.raises(Unauthorized, match="401 Unauthorized") as refusal:
            ask(urls=(url,), username=login.username, password="not this one")
        assert "not this one" not in str(refusal.value)


def test_without_permission(druid_basic: Druid) -> None:
    users = "/druid-ext/basic-security/{}/db/basic/users/nobody"
    for part in ("authentication", "authorization"):
        druid_basic.request("POST", users.format(part), server="coordinator")
    druid_basic.request(
        "POST", f"{users.format('authentication')}/credentials", {"password": "nobody"}, server="coordinator"
    )

    with DruidClient(Connection(urls=(druid_basic.url,), username="nobody", password="nobody")) as client:

        def refused() -> Forbidden | None:
            try:
                client.get("/druid/coordinator/v1/rules")
            except Unauthorized:
                # each server hears of a new user in its own time
                return None
            except Forbidden as refusal:
                return refusal
            raise AssertionError("nobody may do everything")

        assert "403 Forbidden" in str(eventually(refused))


def test_with_a_private_certificate_authority_and_a_client_certificate(druid_mutual_tls: Druid) -> None:
    assert druid_mutual_tls.client_certificate is not None
    cert, key = map(str, druid_mutual_tls.client_certificate)
    ca_file = str(druid_mutual_tls.ca_file)
    own: dict[str, Any] = {"urls": (druid_mutual_tls.url,), "client_cert": cert, "client_key": key}

    assert isinstance(ask(**own, ca_file=ca_file), list)
    assert isinstance(ask(**own, verify=False), list)
    with pytest.raises(Unreachable, match=r"certificate.*ca_path"):
        ask(**own)
    # one that has not signed the server's
    with pytest.raises(Unreachable, match="certificate"):
        ask(**own, ca_file=cert)
    with pytest.raises(Unreachable):
        ask(urls=(druid_mutual_tls.url,), ca_file=ca_file)


def test_first_of_several_servers_that_responds(druid: Druid) -> None:
    assert isinstance(ask(urls=("http://127.0.0.1:1", druid.url)), list)


def test_unreachable_server() -> None:
    with pytest.raises(
        Unreachable, match=r"GET http://127.0.0.1:1/druid/indexer/v1/supervisor got no response: .*refused"
    ):
        ask(urls=("http://127.0.0.1:1",))


def test_server_that_does_not_respond() -> None:
    with unresponsive() as url, pytest.raises(Unreachable, match="got no response"):
        ask(urls=(url,), read_timeout=1)


def test_playbook_prints_one_sentence_without_the_password(druid_basic: Druid, tmp_path: Path) -> None:
    ansible = Ansible(CORES["2.18"], None, "", tmp_path)

    def run(**environment: str) -> Run:
        return ansible.tasks(
            {"druidops.druid.supervisor_info": {}}, options=("-vvv",), status=2, environment=environment
        )

    wrong = run(DRUID_URL=druid_basic.url, DRUID_USERNAME="admin", DRUID_PASSWORD="not this one")
    nowhere = run(DRUID_URL="http://127.0.0.1:1", DRUID_RETRY_TIMEOUT="0")
    nothing = run()

    assert "401 Unauthorized" in wrong.output
    assert "not this one" not in wrong.output
    assert "refused" in nowhere.output
    assert "Set the option url or the environment variable DRUID_URL." in nothing.output


@pytest.mark.parametrize("core", EACH_CORE)
def test_playbook_prints_what_a_module_is_waiting_for(tmp_path: Path, core: str) -> None:
    """The module cannot print while it runs. Here the pauses before it tries again take 3.5 seconds."""
    arguments = {"url": "http://127.0.0.1:1", "retry_timeout": 4}

    run = Ansible(CORES[core], None, "", tmp_path).tasks({"druidops.druid.task_info": arguments}, status=2)

    assert "druidops.druid.task_info: no result after 3 s. It sends requests to http://127.0.0.1:1, tries" in run.output
    assert "got no response: Connection refused" in run.output


@pytest.mark.parametrize("core", EACH_CORE)
def test_no_secret_is_printed_if_ansible_rejects_an_element_of_a_list(tmp_path: Path, core: str) -> None:
    """Ansible itself then forgets which options are secret."""
    spec = {"type": "kafka", "spec": {"ioConfig": {"ssl.key.password": "hunter-1"}}}
    arguments = {"username": "admin", "password": "hunter-2", "supervisors": [{"spec": spec}, 5]}

    run = Ansible(CORES[core], None, "", tmp_path).tasks(
        {"druidops.druid.supervisor": arguments}, options=("-vvv",), status=2
    )

    assert "Value '5' in the sub parameter field 'supervisors'" in run.output
    assert '"username": "admin"' in run.output
    assert "hunter" not in run.output.replace(json.dumps(arguments), "")


def test_secrets_in_a_specification_are_never_printed(druid: Druid, tmp_path: Path) -> None:
    """In any notation, also in the arguments that -vvv prints, and in rejections of Druid."""
    ansible = Ansible(CORES["2.19"], None, "", tmp_path)
    flow = "{type: kafka, spec: {dataSchema: {dataSource: a}, ioConfig: {x: {ssl.key.password: hunter-1}}}}"
    block = """
type: kafka
spec:
  dataSchema: {dataSource: b}
  ioConfig:
    ? 'ssl.key.password'
    : >-
      hunter-2
"""
    number = {"type": "kafka", "spec": {"dataSchema": {"dataSource": "c"}, "ioConfig": {"x.password": 48151623}}}
    many = {"supervisors": [{"spec": flow}, {"spec": block}, {"spec": number}]}
    each: list[dict[str, Any]] = [{"spec": flow}, {"spec": block}, {"spec": number}, many]

    run = ansible.tasks(
        *({"druidops.druid.supervisor": arguments, "ignore_errors": True} for arguments in each),
        options=("-vvv", "--diff"),
        environment={"DRUID_URL": druid.url, "ANSIBLE_DEBUG": "false"},
    )

    # of each task, and of each of its results
    messages = 2 * 3 + 1 + len(many["supervisors"])
    assert run.output.count('"msg": "') == len(re.findall('"msg": ".*400 Bad Request', run.output)) == messages
    printed = run.output
    for arguments in each:
        printed = printed.replace(json.dumps(arguments), "")
    assert "hunter" not in printed
    assert "48151623" not in run.output
