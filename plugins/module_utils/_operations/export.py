# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the module export: what Druid has, as a playbook of the other modules."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError, ResponseTooLarge
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import all_configs
from ansible_collections.druidops.druid.plugins.module_utils._operations.security import (
    GROUP_MAPPINGS,
    ROLES,
    STORES,
    USERS,
    RecordKind,
    info,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import all_compaction
from ansible_collections.druidops.druid.plugins.module_utils._resources.lock_out import Protected
from ansible_collections.druidops.druid.plugins.module_utils._resources.lookup import all_lookups
from ansible_collections.druidops.druid.plugins.module_utils._resources.retention_rules import all_rules
from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import has_store
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import all_specs
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import canonical_compaction
from ansible_collections.druidops.druid.plugins.module_utils._spec.export import (
    Task,
    Variable,
    has_yaml,
    is_exported,
    playbook,
    variables_in,
    with_variables,
    without_nulls,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.lookup import EXTENSIONS, FACTORY
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._spec.retention_rules import DEFAULT, canonical_rules
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import canonical
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput, sentences

Options = Mapping[str, Any]


def export(
    client: DruidClient, params: Options, *, check_mode: bool, diff_mode: bool, move: Callable[[str, str], object]
) -> dict[str, Any]:
    """Return the module's result, and write the playbook unless the file has it already.

    ``move``: moves a file into the place of another one, which may exist.
    """
    if not has_yaml():
        raise DruidError("The Python library PyYAML is missing on the host that runs the module. Install it.")
    tasks = [*_tasks(client, params)]
    text, path = playbook(tasks, client.urls), Path(params["path"])
    before = _current(path)
    changed = before != text.encode()
    if changed and before is not None and not (params["force"] or is_exported(before)):
        remedy = "the file is not an export, or was changed since. Set another path, or force: true to replace it"
        raise InvalidInput("path", str(path), remedy)
    if changed and not check_mode:
        _write(path, text, move)
    names = variables_in([task.options for task in tasks])
    variables = [
        {"name": name, "kind": each.kind, "id": each.id, "path": ".".join(each.path)} for each, name in names.items()
    ]
    diff = {"diff": _diff(path, before, text)} if diff_mode else {}
    return {"changed": changed, "path": str(path), "variables": variables, **diff}


# What Druid has.


def _tasks(client: DruidClient, params: Options) -> Iterator[Task]:
    """Yield the tasks in the order in which they need one another."""
    found = _Found(client, params)
    for kind in KINDS:
        if found.has(kind):
            try:
                yield from _READERS[kind](found)
            except ApiError as error:
                # basic security's own page about it is in no form of Druid's
                if not (error.status == HTTPStatus.FORBIDDEN or isinstance(error, ResponseTooLarge)):
                    raise
                remedy = f"To export the others only, list them in kinds, without {kind}"
                raise DruidError(sentences(str(error), remedy)) from error


class _Found:
    """What several kinds need."""

    def __init__(self, client: DruidClient, params: Options) -> None:
        self.client = client
        self._params = params

    def has(self, kind: str) -> bool:
        """Return whether a kind is exported."""
        return self._params["kinds"] is None or kind in self._params["kinds"]

    @cached_property
    def stores(self) -> dict[str, str | None]:
        """The options for where users and roles are. Empty for one that Druid does not have, if any kind will do."""
        stores = {name: self._params[name] for name in STORES}
        if self._params["kinds"] is not None:
            return stores
        return {
            name: "" if specified is None and not has_store(self.client, name) else specified
            for name, specified in stores.items()
        }

    @cached_property
    def specs(self) -> dict[str, Any]:
        """The specifications of supervisors, by id."""
        return {name: canonical(spec) for name, spec in sorted(all_specs(self.client).items())}

    @cached_property
    def configs(self) -> dict[str, Any]:
        """The configurations of compaction, by datasource."""
        return {name: canonical_compaction(config) for name, config in sorted(all_compaction(self.client).items())}

    @cached_property
    def in_both(self) -> dict[str, bool]:
        """The datasources whose compaction is also a supervisor, and whether that is suspended.

        Only the supervisor can be suspended, so it is that which is exported then; otherwise the compaction.
        """
        if not (self.has("compactions") and self.has("supervisors")):
            return {}
        return {
            str(name): bool(spec.get("suspended"))
            for spec in self.specs.values()
            if spec.get("type") == "autocompact" and (name := datasource_of(spec)) in self.configs
            if are_same(without_nulls(canonical_compaction(spec["spec"])), without_nulls(self.configs[str(name)]))
        }


def _roles(found: _Found) -> Iterator[Task]:
    if found.stores["authorizer"] != "":
        roles = [
            {"id": each["id"], **({"permissions": each["permissions"]} if each["permissions"] else {})}
            for each in _records(found, ROLES, authorizer=found.stores["authorizer"])
            if not _is_built_in_role(each)
        ]
        yield from _task("roles", "role", "roles", roles, _named(found, "authorizer"))


# What Druid creates with an authorizer of basic security.
_BUILT_IN = ("admin", Protected(None).internal)
# What such a role may do in every version of Druid; newer ones have more types.
_UNCHANGED = {(kind, action) for kind in ("DATASOURCE", "CONFIG", "STATE") for action in ("READ", "WRITE")}


def _is_built_in_role(role: Options) -> bool:
    permissions = {(each["resource"]["type"], each["action"]) for each in role["permissions"]}
    is_on_all = all(each["resource"]["name"] == ".*" for each in role["permissions"])
    return role["id"] in _BUILT_IN and is_on_all and permissions >= _UNCHANGED


def _users(found: _Found) -> Iterator[Task]:
    """Yield users with both records, and those with only one, which the module manages without the other store."""
    authenticator, authorizer = (found.stores[name] for name in STORES)
    named = [] if authenticator == "" else _records(found, USERS, authenticator=authenticator, authorizer="")
    authorized = [] if authorizer == "" else _records(found, USERS, authenticator="", authorizer=authorizer)
    logins, roles = {each["id"] for each in named}, {each["id"]: each["roles"] for each in authorized}
    both = [
        {"id": name, "roles": roles[name]}
        for name in roles
        if name in logins and not (name in _BUILT_IN and roles[name] == [name])
    ]
    yield from _task("users", "user", "users", both, _named(found, *STORES))
    others = [{"id": name, "roles": roles[name]} for name in roles if name not in logins]
    options = {"authenticator": "", **_named(found, "authorizer")}
    yield from _task("roles of users without a login", "user", "users", others, options)
    others = [{"id": each["id"]} for each in named if each["id"] not in roles]
    options = {**_named(found, "authenticator"), "authorizer": ""}
    yield from _task("users without roles", "user", "users", others, options)


def _group_mappings(found: _Found) -> Iterator[Task]:
    if found.stores["authorizer"] != "":
        mappings = _records(found, GROUP_MAPPINGS, authorizer=found.stores["authorizer"])
        yield from _task("group mappings", "group_mapping", "group_mappings", mappings, _named(found, "authorizer"))


def _records(found: _Found, kind: RecordKind, **stores: str | None) -> list[dict[str, Any]]:
    return info(kind, found.client, {"id": None, **stores})


def _named(found: _Found, *names: str) -> dict[str, str]:
    return {name: str(found.stores[name]) for name in names if found.stores[name] is not None}


def _configs(found: _Found) -> Iterator[Task]:
    configs = {
        name: _document("configs", name, without_nulls(config))
        for name, config in all_configs(found.client).items()
        if config
    }
    if configs:
        yield Task("Manage the dynamic configurations", "dynamic_config", configs)


def _lookups(found: _Found) -> Iterator[Task]:
    lookups = [
        {
            "id": name,
            "tier": tier,
            "spec": _document("lookups", f"{tier}/{name}", {FACTORY: lookup[FACTORY]}),
            **({} if lookup[FACTORY].get("type") in EXTENSIONS else {"custom_type": True}),
        }
        for tier, named in sorted(all_lookups(found.client).items())
        for name, lookup in sorted(named.items())
    ]
    yield from _task("lookups", "lookup", "lookups", lookups)


def _retention_rules(found: _Found) -> Iterator[Task]:
    by_default = {DEFAULT: canonical_rules([{"type": "loadForever"}])}
    rules = [
        {"datasource": name, "rules": _document("retention_rules", name, rules)}
        for name, rules in sorted(all_rules(found.client).items())
        if rules != by_default.get(name)
    ]
    yield from _task("retention rules", "retention_rules", "retention_rules", rules)


def _compactions(found: _Found) -> Iterator[Task]:
    compactions = [
        {"datasource": name, "config": _document("compactions", name, without_nulls(config))}
        for name, config in found.configs.items()
        if not found.in_both.get(name)
    ]
    yield from _task("automatic compaction", "compaction", "compactions", compactions)


def _supervisors(found: _Found) -> Iterator[Task]:
    compacted = {f"autocompact__{name}" for name, is_suspended in found.in_both.items() if not is_suspended}
    supervisors = [
        {"id": name, "spec": _document("supervisors", name, without_nulls(spec))}
        for name, spec in found.specs.items()
        if name not in compacted
    ]
    yield from _task("supervisors", "supervisor", "supervisors", supervisors)


def _document(kind: str, identifier: str, document: Any) -> Any:
    return with_variables(document, masked(document), Variable(kind, identifier, ()))


def _task(
    name: str, module: str, option: str, items: list[dict[str, Any]], options: Options | None = None
) -> Iterator[Task]:
    if items:
        yield Task(f"Manage {name}", module, {**(options or {}), option: items})


# In the order in which they need one another.
_READERS: Mapping[str, Callable[[_Found], Iterable[Task]]] = {
    "roles": _roles,
    "users": _users,
    "group_mappings": _group_mappings,
    "configs": _configs,
    "lookups": _lookups,
    "retention_rules": _retention_rules,
    "compactions": _compactions,
    "supervisors": _supervisors,
}
KINDS = (*_READERS,)


# The file.


def _current(path: Path) -> bytes | None:
    """Return the content of the file, None if there is none. InvalidInput if it is a directory, or a device."""
    try:
        # exists() is false for a loop of symbolic links
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidInput("path", str(path), "is not a regular file")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput("path", str(path), f"cannot be read: {error.strerror}") from error


def _write(path: Path, text: str, move: Callable[[str, str], object]) -> None:
    """Replace the file as a whole, with its mode and owner. A new one is readable for its owner only."""
    umask = os.umask(0o077)
    try:
        target = path.resolve()
        with tempfile.TemporaryDirectory(dir=target.parent) as directory:
            source = Path(directory, "new")
            source.write_bytes(text.encode())
            move(str(source), str(target))
    except OSError as error:
        raise InvalidInput("path", str(path), f"cannot be written: {error.strerror}") from error
    finally:
        os.umask(umask)


def _diff(path: Path, before: bytes | None, after: str) -> list[dict[str, str]]:
    """Return the diff. What others have written, which may have secrets, is not shown."""
    if before == after.encode():
        return []
    shown = "" if before is None else before.decode() if is_exported(before) else "(a file that is not an export)\n"
    return [{"before": shown, "after": after, "before_header": str(path), "after_header": str(path)}]
