# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules user, role and group_mapping, and of their info modules. What each one is, is in a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Forbidden, Unauthorized
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import DOCUMENT
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change, converge
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import document_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item, OneOrMany, items_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.wait_for_all import Wait, wait_for_all
from ansible_collections.druidops.druid.plugins.module_utils._resources.lock_out import Protected
from ansible_collections.druidops.druid.plugins.module_utils._resources.security import (
    GroupMapping,
    Record,
    Role,
    User,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import (
    Store,
    refusal,
    unknown_at,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import check_password, check_user_name
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    HIDDEN,
    NOT_SET,
    DruidError,
    InvalidInput,
)

Options = Mapping[str, Any]
# The authenticator and the authorizer, None if the option is empty.
Stores = Mapping[str, Any]
_ROLES = {"type": "list", "elements": "str"}
STORES: dict[str, dict[str, Any]] = {name: {"type": "str"} for name in ("authenticator", "authorizer")}
# Documented in the doc fragment druidops.druid.basic_security.
MANAGED: dict[str, dict[str, Any]] = {
    "initial_password": {"type": "str", "no_log": True},
    "allow_lock_out": {"type": "bool", "default": False},
}
INTERNAL_USER: dict[str, dict[str, Any]] = {"internal_user": {"type": "str", "default": Protected(None).internal}}


@dataclass(frozen=True, eq=False)
class RecordKind:
    """
    What a module manages. ``name``: in messages. ``records``: the name of its records in the authorizer's API.

    ``options``: those of one thing. ``resource``: makes it from the stores and the desired state, None to remove it.
    ``fields``: the fields of a result's entry, from its state. ``state``: the one that stands for the state.
    """

    name: str
    records: str
    state: str
    options: OneOrMany
    desired: Callable[[Options], Options]
    resource: Callable[[DruidClient, str, Options | None, Stores, Protected], Record]
    fields: Callable[[Any], dict[str, Any]]


def _user(client: DruidClient, name: str, desired: Options | None, stores: Stores, protected: Protected) -> User:
    if not any(stores.values()):
        raise InvalidInput("authorizer", "", "authenticator and authorizer are both empty; name one of them")
    for store, option, field in (("authenticator", "user_password", "password"), ("authorizer", "roles", "roles")):
        if desired and desired[field] is not None and not stores[store]:
            raise InvalidInput(option, NOT_SET, f"the option {store} is empty, so there is no record to set it in")
    if desired and stores["authenticator"]:
        check_user_name(name)
    return User(client, name, desired, stores["authenticator"], stores["authorizer"], protected)


def _authorizer(stores: Stores) -> Store:
    if not isinstance(authorizer := stores["authorizer"], Store):
        raise InvalidInput("authorizer", "", "roles and group mappings are in an authorizer; name it")
    return authorizer


def _desired_user(options: Options) -> Options:
    password = options["user_password"]
    if password is not None:
        check_password("user_password", password)
    keeps_password = options["update_password"] == "on_create"
    return {"password": password, "keeps_password": keeps_password, "roles": options["roles"]}


def _permissions(options: Options) -> Options:
    permissions = document_of(options, "permissions")
    if permissions == []:
        # an empty list may be the result of a mistake in a template
        remedy = "set at least one permission, or state: absent to remove the role"
        raise InvalidInput("permissions", permissions, remedy)
    return {"permissions": permissions}


USERS = RecordKind(
    "user",
    "users",
    "roles",
    OneOrMany(
        "users",
        {
            "id": {"type": "str"},
            "user_password": {"type": "str", "no_log": True},
            "update_password": {
                "type": "str",
                "choices": ["always", "on_create"],
                "default": "always",
                "no_log": False,
            },
            "roles": _ROLES,
        },
    ),
    _desired_user,
    _user,
    lambda state: {
        "roles": state["authorization"]["roles"] if state and "authorization" in state else [],
        "has_password": bool(state and state.get("authentication", {}).get("password_is_set")),
    },
)
ROLES = RecordKind(
    "role",
    "roles",
    "permissions",
    OneOrMany("roles", {"id": {"type": "str"}, "permissions": DOCUMENT}),
    _permissions,
    lambda client, name, desired, stores, protected: Role(client, name, desired, _authorizer(stores), protected),
    lambda state: {"permissions": state["permissions"] if state else []},
)
GROUP_MAPPINGS = RecordKind(
    "group mapping",
    "groupMappings",
    "roles",
    OneOrMany("group_mappings", {"id": {"type": "str"}, "group_pattern": {"type": "str"}, "roles": _ROLES}),
    lambda options: {name: options[name] for name in ("group_pattern", "roles")},
    lambda client, name, desired, stores, protected: GroupMapping(
        client, name, desired, _authorizer(stores), protected
    ),
    lambda state: {"roles": state["roles"], "group_pattern": state["group_pattern"]} if state else {"roles": []},
)


def ensure(kind: RecordKind, client: DruidClient, params: Options, *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end.

    The user as which the module itself has logged in comes last: its password may change.
    """
    report = ModuleResult(kind.options.many, kind.name, kind.state, items_of(params, kind.options.many))
    # the items whose password is known
    known = []
    with _logged_in(client, params) as current:
        stores = _stores(current, params)
        internal = params.get("internal_user") or Protected.internal
        protected = Protected(current.username, internal, params["allow_lock_out"])
        for item in sorted(report.items, key=lambda item: kind is USERS and item.options.get("id") == current.username):
            with report.part_of(item):
                if kind is USERS and params["initial_password"] is not None:
                    _refuse_to_keep_it(item, current)
                change = _ensure(kind, current, stores, protected, report, item, check_mode)
                if item.is_present and item.options.get("user_password") and not _keeps_password(kind, item, change):
                    known.append(item)
        if params.get("wait") and not check_mode:
            _wait(current, report, known, params["wait_timeout"])
    return report.result()


def _refuse_to_keep_it(item: Item, client: DruidClient) -> None:
    """InvalidInput if the login would keep the initial password although another one is specified."""
    options = item.options
    if item.is_present and options.get("id") == client.username and options["update_password"] == "on_create":
        remedy = "the user as which the module logs in would keep initial_password. Set always for this user"
        raise InvalidInput("update_password", "on_create", remedy)


def _ensure(
    kind: RecordKind,
    client: DruidClient,
    stores: Stores,
    protected: Protected,
    report: ModuleResult,
    item: Item,
    check_mode: bool,
) -> Change:
    name = item.options.get("id")
    if not name:
        raise InvalidInput("id", NOT_SET, f"set the name of the {kind.name}")
    report.identify(item, name)
    desired = kind.desired(item.options) if item.is_present else None
    resource = kind.resource(client, name, desired, stores, protected)
    change = converge(resource, check_mode=check_mode)
    if check_mode and change.changed:
        resource.predict(change.before, change.after)
    fields = kind.fields(change.now)
    if check_mode and kind is ROLES:
        _authorizer(stores).planned[name] = fields["permissions"]
    item.result.update(fields)
    report.record(item, replace(change, now=fields[report.state]), resource.warnings)
    return change


def _keeps_password(kind: RecordKind, item: Item, change: Change) -> bool:
    """Return whether a user has kept a password that may be another one."""
    return item.options["update_password"] == "on_create" and kind.fields(change.before)["has_password"]


def info(kind: RecordKind, client: DruidClient, params: Options) -> list[dict[str, Any]]:
    """Return the selected users, roles or group mappings, sorted by name."""
    stores = _stores(client, params)
    selected, found = params["id"], []
    names = {name for store in stores.values() if store for name in store.names(kind.records)}
    for name in sorted(names if selected is None else names & {selected}):
        # it is only read
        state = kind.resource(client, name, None, stores, Protected(client.username)).read()
        if state is not None:
            found.append({"id": name, **kind.fields(state)})
    return found


def _stores(client: DruidClient, params: Options) -> Stores:
    """Return the authenticator and the authorizer, as far as the module has an option for it; None if it is empty."""
    return {
        name: None if params[name] == "" else Store(client, name, params[name]) for name in STORES if name in params
    }


@contextmanager
def _logged_in(client: DruidClient, params: Options) -> Iterator[DruidClient]:
    """Yield the client, or one with the initial password if it may manage users with that, and not with the other."""
    initial = params.get("initial_password")
    if initial is None:
        yield client
        return
    check_password("initial_password", initial)
    if client.username is None:
        raise InvalidInput("initial_password", HIDDEN, "it is that of username. Set username and password, too")
    with client.with_login(client.username, initial) as other:
        problem = refusal(client)
        if problem and not isinstance(problem, Unauthorized | Forbidden):
            raise problem
        yield other if problem and refusal(other) is None else client


def _wait(client: DruidClient, report: ModuleResult, items: Iterable[Item], timeout: float) -> None:
    """Wait until the servers that the module reaches know the passwords of the users."""
    with ExitStack() as clients:
        reference, waits = clients.enter_context(client.probing()), []
        for item in items:
            name, password = item.options["id"], item.options["user_password"]
            login = clients.enter_context(client.with_login(name, password).probing())
            waits.append((item, Wait(partial(unknown_at, login, reference), _is_none, f"the login of {name}")))
        if waits:
            wait_for_all([wait for _item, wait in waits], timeout)
    for item, wait in waits:
        with report.part_of(item):
            try:
                wait.outcome()
            except WaitTimeout as error:
                raise DruidError(f"{error} {error.last}") from error


def _is_none(error: Any) -> bool:
    return error is None
