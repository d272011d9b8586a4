# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One of several replicas is the leader: the one that holds a Lease and renews it."""

from __future__ import annotations

import logging
import socket
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ..api import ApiError
from .client import Client, Json, Unanswered
from .settings import Election

_LOG = logging.getLogger("leader")
_RETRY = 2.0
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"


class LostError(RuntimeError):
    """The lease could not be renewed in time: another may be the leader now."""


@dataclass
class Candidate:
    """One replica."""

    client: Client
    election: Election
    identity: str = field(default_factory=lambda: f"{socket.gethostname()}_{uuid.uuid4()}")
    _seen: Json = field(default_factory=dict)
    _seen_at: float = 0.0

    def acquire(self) -> None:
        """Return as the leader."""
        _LOG.info("waiting for the lease %s/%s", self.election.namespace, self.election.id)
        while not self._try():
            time.sleep(_RETRY)
        _LOG.info("became the leader identity=%s", self.identity)

    def keep(self) -> None:
        """Renew the lease for as long as that works; then a LostError. It is not given back at the end."""
        renewed = time.monotonic()
        while time.monotonic() - renewed < self.election.renew_deadline:
            time.sleep(_RETRY)
            if self._try():
                renewed = time.monotonic()
        raise LostError("leader election lost")

    def _try(self) -> bool:
        """Take or renew the lease; whether it is ours."""
        try:
            return self._update_or_create()
        except (ApiError, Unanswered, OSError) as error:
            _LOG.info("no lease: %s", error)
            return False

    def _update_or_create(self) -> bool:
        path = _LEASES.format(self.election.namespace)
        try:
            lease = self.client.request("GET", f"{path}/{self.election.id}", timeout=self.election.renew_deadline)
        except ApiError as error:
            if error.status != 404:
                raise
            metadata = {"name": self.election.id, "namespace": self.election.namespace}
            self.client.request("POST", path, {"metadata": metadata, "spec": self._spec({})})
            return True
        if not self._is_free(lease["spec"]):
            return False
        self.client.request("PUT", f"{path}/{self.election.id}", {**lease, "spec": self._spec(lease["spec"])})
        return True

    def _is_free(self, spec: Json) -> bool:
        """Whether it is ours, or has been nobody's for as long as it lasts, by our own clock."""
        if spec != self._seen:
            self._seen, self._seen_at = spec, time.monotonic()
        holder = spec.get("holderIdentity")
        expired = time.monotonic() - self._seen_at > spec.get("leaseDurationSeconds", 0)
        return holder in (None, "", self.identity) or expired

    def _spec(self, before: Json) -> dict[str, Any]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        stays = before.get("holderIdentity") == self.identity
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(self.election.lease_duration),
            "acquireTime": before["acquireTime"] if stays else now,
            "renewTime": now,
            "leaseTransitions": before.get("leaseTransitions", 0) + (bool(before) and not stays),
        }
