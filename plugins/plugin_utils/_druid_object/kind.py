# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kind of resource that describes one object in a Druid: all is the same but the object."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Resource
from ansible_collections.druidops.druid.plugins.module_utils._secrets import spec_masking
from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import change_of
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey, secrets_of
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object import status as statuses
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.decide import FINALIZER, Identity
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.options import (
    ARGUMENTS,
    Options,
    common_options,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.reconcile import finalize, reconcile_once
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import DruidObject
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import (
    ObjectResult,
    ObjectState,
    Plan,
    Surroundings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    DRUID_OBJECTS,
    Manifest,
    object_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.census import ConditionsByType
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Completed, EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import from_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, Progress

# The kind is an option, too: the options of all of them are the same.
_ARGUMENTS: Mapping[str, Any] = {**ARGUMENTS, "kind": {"type": "str", "choices": [*DRUID_OBJECTS], "required": True}}


class ObjectKind(Kind[Options, ObjectResult, Plan]):
    """A kind of resource that describes one object in a Druid.

    Its name is one of the DRUID_OBJECTS.
    """

    finalizer = FINALIZER
    variable = "resource"
    arguments = _ARGUMENTS
    transient = reasons.TRANSIENT_OF_OBJECT
    requested = frozenset({reasons.CHANGES_PENDING})
    condition_types = ("Ready", "Progressing", "Degraded")
    plan = Plan

    @property
    def noun(self) -> str:
        """The name of the object in messages, and its kind in the table of Druid's classes."""
        return object_of(self.name)

    # What a kind is.

    @abstractmethod
    def identities(self, item: DruidObject) -> tuple[Identity, ...]:
        """Return what the resource describes, and no other resource may describe. Pure, for any content."""

    @abstractmethod
    def title(self, identity: Identity) -> str:
        """Return the name of the object in messages."""

    @abstractmethod
    def desired(self, item: DruidObject, found: Surroundings[DruidObject]) -> Any:
        """Return what the resource specifies. InvalidInput names the field that is invalid."""

    @abstractmethod
    def in_druid(self, client: DruidClient, identities: Iterable[Identity], desired: Any) -> Resource:
        """Return the object in Druid; `desired` None: to remove it."""

    def what(self, item: DruidObject) -> str:
        """Return the name of all that the resource describes in messages."""
        return self.title(self.identities(item)[0])

    def secrets(self, _item: DruidObject) -> tuple[SecretKey, ...]:
        """Return the Secrets that the resource needs besides those of the connection."""
        return ()

    def warnings(self, _item: DruidObject) -> Iterator[str]:
        """Yield warnings about the spec."""
        yield from ()

    def judge(self, client: DruidClient, item: DruidObject, change: DruidChange) -> None:
        """Raise InvalidInput if the change must not be sent."""

    def state(
        self, _client: DruidClient, _item: DruidObject, _resource: Any, _change: DruidChange
    ) -> tuple[Mapping[str, Any], str]:
        """Return further fields of the status, and what is waited for; empty if the object is in effect."""
        return {}, ""

    # What is the same for each of them.

    def all_secrets(self, item: DruidObject) -> tuple[SecretKey, ...]:
        """Return all Secrets that the resource needs."""
        return (*secrets_of(item), *self.secrets(item))

    def fetch(self, client: DruidClient, item: DruidObject, found: Surroundings[DruidObject]) -> ObjectState:
        """Return the state in Druid. Only GETs are sent. InvalidInput names the field that is invalid."""
        own, desired = self.identities(item), self.desired(item, found)
        resource = self.in_druid(client, own, desired)
        change = change_of(resource, self.noun, self.id_of(item), self.what(item), desired)
        self.judge(client, item, change)
        fields, pending = self.state(client, item, resource, change)
        return ObjectState(change, {"id": self.id_of(item), **fields}, pending)

    def id_of(self, item: DruidObject) -> str:
        """Return the id of the object in Druid, which is the name of the resource unless that is specified."""
        return item.text("id") or item.name

    def removing(self, identity: Identity) -> Any:
        """Return what makes the object to remove, from the client."""
        return partial(self.in_druid, identities=(identity,), desired=None)

    def writing(self, item: DruidObject, desired: Any) -> Any:
        """Return what makes the object to write, from the client."""
        return partial(self.in_druid, identities=self.identities(item), desired=desired)

    def to_options(self, arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> Options:
        return Options(**common_options(arguments, check_mode, meter))

    def reconcile_once(self, api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> ObjectResult:
        return reconcile_once(self, api, resource, options)

    def delete_without_resource(
        self, api: KubernetesApi, request: Request[Options], progress: Progress, clock: Clock
    ) -> Outcome[Plan]:
        """Remove the object that variables describe."""
        resource, warnings = from_spec(self.name, request.spec or {}, request.name, request.namespace)
        report = self.report(
            api, finalize(self, api, resource, request.options), request.options.check_mode, clock.now()
        )
        return Outcome(Plan(), warnings=warnings).after(report)

    def details(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"object": {name: value for name, value in status.items() if isinstance(value, str)}}

    def is_as_desired(self, conditions: ConditionsByType) -> bool:
        """Return whether the object is as specified, or the resource is paused."""
        return self.is_settled(conditions.values()) or conditions["Ready"].get("reason") == reasons.PAUSED

    def completed(self, result: ObjectResult, check_mode: bool) -> Completed[Plan]:
        return result

    def masker(self, result: ObjectResult) -> Masker:
        """Return a masker for the secrets in the resource, in the Secrets that were read, and in Druid's object."""
        change = result.in_druid.change if result.in_druid else None
        in_druid = () if change is None else (change.before, change.after)
        secrets = (secret for secret in result.observed.secrets.values() if secret)
        return spec_masking.masker_of([searched(result.resource), *in_druid]) | masker_of(secrets)

    def status(self, result: ObjectResult, plan: Plan, now: datetime, check_mode: bool) -> dict[str, Any]:
        return statuses.status(result.item, result.in_druid, plan.findings, result.previous, now)

    def events(self, result: ObjectResult, completed: Completed[Plan], change: StatusChange) -> Iterator[EventText]:
        yield from super().events(result, completed, change)
        if completed.is_deleted or completed.plan.steps or change.is_new_generation:
            reason = reasons.OBJECT_RETAINED if completed.is_deleted else reasons.SPEC_WARNING
            yield from (EventText("Warning", reason, text) for text in completed.plan.warnings)
