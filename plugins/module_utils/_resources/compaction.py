# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Automatic compaction: that of one datasource, and the configuration of the cluster.

Since Druid 33 the API is ``/druid/indexer/v1/compaction/config`` of the Overlord, which also supports compaction
supervisors; before that it is ``/druid/coordinator/v1/config/compaction`` of the Coordinator. There, only the task
slots of the cluster are configurable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.module_utils._resources.remembered import RememberedDocument
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import SUPERVISORS, supervisor_path
from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import (
    CONTEXT,
    canonical_compaction,
    merged_compaction,
    specified_compaction,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import COMPACTION
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import digest_of_left_over
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

# The first release whose Overlord serves the API. Since then the Coordinator's API is deprecated.
COORDINATORS = ("druid", "coordinator", "v1", "config", "compaction")
OVERLORDS = ("druid", "indexer", "v1", "compaction")


def is_by_overlord(client: DruidClient) -> bool:
    """Return whether compaction is configured at the Overlord. The version would require a permission (STATE)."""
    return client.serves(COMPACTION.path)


def all_compaction(client: DruidClient) -> dict[str, Any]:
    """Return all configurations by datasource, with one request."""
    list_path = path(*OVERLORDS, "config", "datasources") if is_by_overlord(client) else path(*COORDINATORS)
    found = client.get(list_path).get("compactionConfigs") or []
    return {each["dataSource"]: each for each in found}


class Compaction(RememberedDocument):
    """
    The configuration of a datasource. ``desired`` is merged into it; None removes it.

    ``configs``: the configurations of all datasources, if they were read together.
    """

    _kind = "compaction"

    def __init__(
        self,
        client: DruidClient,
        datasource: str,
        desired: Mapping[str, Any] | None,
        configs: Mapping[str, Any] | None = None,
        audit: Audit | None = None,
    ) -> None:
        super().__init__(client, f"compaction of datasource {datasource!r}", audit)
        self._id = self._datasource = datasource
        self._config = desired
        self._desired = None if desired is None else specified_compaction(datasource, desired)
        self._configs = configs or {}

    def read(self) -> dict[str, Any] | None:
        """Return the configuration. The list omits those that the user may not read, so these are read separately."""
        config = self._configs.get(self._datasource)
        return self._fetch() if config is None else dict(canonical_compaction(self._remembered(config)))

    def write(self, before: Any, after: Any) -> dict[str, Any] | None:
        """Create, update or remove it, and return the new state. Errors as for any document.

        What Druid has made of it is written in its context, since that compacts nothing again.
        """
        now: dict[str, Any] | None = super().write(before, after)
        # others may have changed it since it was read
        again = None if now is None else self._merged(now)
        left_over = digest_of_left_over(now, again)
        if left_over not in ("", self._left_over):
            self._left_over = left_over
            try:
                self._send(now, again)
            except DruidError as error:
                self._warn(f"What Druid has made of it is not remembered, so that the next run sends it again: {error}")
        return now

    @property
    def _document(self) -> Any:
        return self._config

    @property
    def _place(self) -> Path:
        return CONTEXT

    @property
    def _specified(self) -> Any:
        return self._desired

    def _fetch(self) -> dict[str, Any] | None:
        try:
            return dict(canonical_compaction(self._remembered(self._client.get(self._path))))
        except NotFound:
            return None

    def _merged(self, before: Any) -> dict[str, Any] | None:
        return merged_compaction(before, self._desired, self._former)

    def _send(self, before: Any, after: Any) -> None:
        if after is None:
            self._delete()
        elif self._is_suspended():
            # the compaction API would resume the supervisor
            spec = {"type": "autocompact", "spec": self._marked(after), "suspended": True}
            unmodified = {"skipRestartIfUnmodified": "true"}
            self._client.post(SUPERVISORS, spec, unmodified, idempotent=True, audit=self._audit)
        else:
            target = self._path if is_by_overlord(self._client) else path(*COORDINATORS)
            self._client.post(target, self._marked(after), idempotent=True, audit=self._audit)

    def _delete(self) -> None:
        try:
            self._client.delete(self._path, audit=self._audit)
        except NotFound:
            # it was deleted concurrently
            return

    def _is_suspended(self) -> bool:
        """Return whether the datasource has a compaction supervisor that is suspended."""
        if not is_by_overlord(self._client):
            return False
        try:
            spec = self._client.get(supervisor_path(f"autocompact__{self._datasource}"))
        except NotFound:
            return False
        return bool(spec.get("suspended")) and bool(self._client.get(path(*OVERLORDS, "isSupervisorEnabled")))

    @property
    def _path(self) -> str:
        if is_by_overlord(self._client):
            return path(*OVERLORDS, "config", "datasources", self._datasource)
        return path(*COORDINATORS, self._datasource)


# The fields that exist before Druid 33, and their query parameters.
_SLOTS = {
    "compactionTaskSlotRatio": "ratio",
    "maxCompactionTaskSlots": "max",
    "useAutoScaleSlots": "useAutoScaleSlots",
}


class CompactionConfig(DynamicConfig):
    """The configuration of the cluster, and the desired fields that are merged into it."""

    def __init__(self, client: DruidClient, desired: Mapping[str, Any], audit: Audit | None = None) -> None:
        super().__init__(client, COMPACTION, desired, audit)

    def _fetch(self) -> dict[str, Any]:
        if is_by_overlord(self._client):
            return super()._fetch()
        found = self._client.get(path(*COORDINATORS))
        return {name: value for name, value in found.items() if name in _SLOTS}

    def _send(self, before: Any, after: Any) -> None:
        if is_by_overlord(self._client):
            # POST replaces the whole configuration
            self._client.post(COMPACTION.path, after, idempotent=True, audit=self._audit)
            return
        slots = {_SLOTS[name]: after[name] for name in self._body(before, after) if name in _SLOTS}
        self._client.post(path(*COORDINATORS, "taskslots"), params=slots, idempotent=True, audit=self._audit)
