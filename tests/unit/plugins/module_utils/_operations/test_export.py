# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is exported of a Druid, and what is left out. A real Druid is in tests/system/modules/test_export.py."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.export import KINDS, export
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import Server, say, serving

__all__ = ["fake_time"]

COORDINATOR, OVERLORD = "/druid/coordinator/v1", "/druid/indexer/v1"
READS, ON_EVERYTHING = (
    [
        {"resource": {"type": kind, "name": ".*"}, "action": action}
        for kind in ("CONFIG", "DATASOURCE", "STATE", "VIEW")
        for action in actions
    ]
    for actions in (["READ"], ["READ", "WRITE"])
)
LIMIT = 10_000
PARAMS: dict[str, Any] = {"kinds": None, "force": False, "authenticator": None, "authorizer": None}
COMPACTION = {"dataSource": "a", "taskPriority": 30}


@pytest.fixture
def server() -> Iterator[Server]:
    """A Druid as it starts, without basic security."""
    with serving() as server:
        server.answers = [say(404)]
        server.routes = {
            f"{COORDINATOR}/isLeader": [say(200, {"leader": True})],
            f"{OVERLORD}/isLeader": [say(200, {"leader": True})],
            f"{OVERLORD}/supervisor": [say(200, [])],
            f"{OVERLORD}/compaction/config/datasources": [say(200, {"compactionConfigs": []})],
            f"{OVERLORD}/compaction/config/cluster": [say(200, {"compactionTaskSlotRatio": 0.1})],
            f"{OVERLORD}/worker": [say(200, b"")],
            f"{COORDINATOR}/config": [say(200, {"maxSegmentsToMove": 100, "debugDimensions": None})],
            f"{COORDINATOR}/rules": [say(200, {"_default": [{"type": "loadForever"}]})],
        }
        yield server


@pytest.fixture
def exported(server: Server, fake_time: FakeTime, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Export, and return the options of the tasks by module."""

    def tasks(
        move: Callable[[str, str], None] = os.replace, *, diff_mode: bool = False, **params: Any
    ) -> dict[str, Any]:
        client: DruidClient = fake_time.client(server.url, retry_timeout=0, max_response_bytes=LIMIT)
        options = {**PARAMS, "path": str(tmp_path / "druid.yml"), **params}
        result = export(client, options, check_mode=False, diff_mode=diff_mode, move=move)
        assert ("diff" in result) is diff_mode
        [play] = yaml.safe_load((tmp_path / "druid.yml").read_text(encoding="utf-8"))
        named = [(key.rpartition(".")[2], task[key]) for task in play["tasks"] for key in task if key != "name"]
        # the tasks of users are several
        names = [f"{name} {number}" if name == "user" else name for number, (name, _found) in enumerate(named)]
        return dict(zip(names, (found for _name, found in named), strict=True))

    return tasks


def test_new_druid(exported: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    found = exported(diff_mode=True)
    assert found == {
        "dynamic_config": {"coordinator": {"maxSegmentsToMove": 100}, "compaction": {"compactionTaskSlotRatio": 0.1}}
    }
    assert (tmp_path / "druid.yml").stat().st_mode & 0o777 == 0o600


def test_only_these_kinds(server: Server, exported: Callable[..., dict[str, Any]]) -> None:
    assert exported(kinds=["retention_rules"]) == {}
    assert [asked.path for asked in server.asked] == [f"{COORDINATOR}/rules"]
    with pytest.raises(DruidError):
        exported(kinds=["roles"])


@pytest.mark.parametrize(
    ("is_suspended", "kinds", "expected"),
    [
        (False, KINDS, {"compaction"}),
        # only the supervisor can be suspended
        (True, KINDS, {"supervisor"}),
        (False, ["supervisors"], {"supervisor"}),
        (True, ["compactions"], {"compaction"}),
    ],
)
def test_compaction_by_a_supervisor_is_exported_once(
    server: Server, exported: Callable[..., dict[str, Any]], is_suspended: bool, kinds: list[str], expected: set[str]
) -> None:
    spec = {"type": "autocompact", "spec": {**COMPACTION, "taskContext": {"druidops": "1 a b - -"}}}
    entry = {"id": "autocompact__a", "spec": {**spec, "suspended": is_suspended}}
    server.routes[f"{OVERLORD}/supervisor"] = [say(200, [entry])]
    server.routes[f"{OVERLORD}/compaction/config/datasources"] = [say(200, {"compactionConfigs": [COMPACTION]})]

    found = exported(kinds=[kind for kind in kinds if kind in ("compactions", "supervisors")])

    assert found.keys() == expected
    # the marker is no part of it
    assert "druidops" not in str(found)


@pytest.mark.parametrize(
    ("permissions", "expected"),
    [(ON_EVERYTHING, []), ([], [{"id": "admin"}]), (READS, [{"id": "admin", "permissions": READS}])],
    ids=["as created", "without permissions", "reads only"],
)
def test_users_and_roles(
    server: Server,
    exported: Callable[..., dict[str, Any]],
    permissions: list[dict[str, Any]],
    expected: list[dict[str, Any]],
) -> None:
    records: dict[str, dict[str, Any]] = {
        "authentication/db/basic/users": {name: {"credentials": None} for name in ("admin", "both", "login")},
        "authorization/db/basic/users": {
            "admin": {"roles": ["admin"]},
            **{each: {"roles": []} for each in ("both", "of_directory")},
        },
        "authorization/db/basic/roles": {
            "admin": {"permissions": permissions, "users": [], "groupMappings": []},
            "nothing": {"permissions": [], "users": [], "groupMappings": []},
        },
        "authorization/db/basic/groupMappings": {"g": {"groupPattern": "CN=a", "roles": ["nothing"]}},
    }
    for path, named in records.items():
        server.routes[f"/druid-ext/basic-security/{path}"] = [say(200, [*named])]
        for name, record in named.items():
            server.routes[f"/druid-ext/basic-security/{path}/{name}"] = [say(200, {"name": name, **record})]
    for part in ("authentication", "authorization"):
        server.routes[f"/druid-ext/basic-security/{part}/loadStatus"] = [say(200, {"basic": True})]

    found = exported()

    del found["dynamic_config"]
    assert found == {
        "role": {"roles": [*expected, {"id": "nothing"}]},
        "user 1": {"users": [{"id": "both", "roles": []}]},
        "user 2": {"authenticator": "", "users": [{"id": "of_directory", "roles": []}]},
        "user 3": {"authorizer": "", "users": [{"id": "login"}]},
        "group_mapping": {"group_mappings": [{"id": "g", "group_pattern": "CN=a", "roles": ["nothing"]}]},
    }


def test_kind_that_may_not_be_read(server: Server, exported: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    # of basic security
    server.routes[f"{COORDINATOR}/rules"] = [say(403, "Unauthorized", Content_Type="text/plain")]
    with pytest.raises(DruidError, match=r"READ on STATE STATE.* list them in kinds, without retention_rules\.$"):
        exported()
    assert not (tmp_path / "druid.yml").exists()


def test_kind_that_is_too_large(server: Server, exported: Callable[..., dict[str, Any]]) -> None:
    server.routes[f"{COORDINATOR}/rules"] = [say(200, {"a" * LIMIT: []})]
    with pytest.raises(DruidError, match=r"list them in kinds, without retention_rules\.$"):
        exported()


def test_file_that_cannot_be_written(exported: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^path .*: cannot be written: No such file or directory"):
        exported(path=str(tmp_path / "none" / "druid.yml"))
    (tmp_path / "link").symlink_to("/dev/null")
    for other in (tmp_path, tmp_path / "link"):
        with pytest.raises(InvalidInput, match=r"^path .*: is not a regular file"):
            exported(path=str(other), force=True)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InvalidInput, match=r"^path .*: cannot be read: Too many levels of symbolic links"):
        exported(path=str(tmp_path / "loop"), force=True)


def test_nothing_is_left_of_a_file_that_was_not_written(
    exported: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    def move(_source: str, _target: str) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    with pytest.raises(InvalidInput, match=r"^path .*: cannot be written: Operation not permitted"):
        exported(move)

    assert [*tmp_path.iterdir()] == []


def test_link_is_kept(exported: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "druid.yml").symlink_to(tmp_path / "target.yml")
    exported()
    assert (tmp_path / "druid.yml").is_symlink()
    assert (tmp_path / "target.yml").exists()
    assert {each.name for each in tmp_path.iterdir()} == {"druid.yml", "target.yml"}
