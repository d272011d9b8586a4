# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Leader election: the leader is the replica that holds a Lease and renews it."""

from __future__ import annotations

import logging
import socket
import time
import uuid
from datetime import UTC, datetime

from ..api import ApiError
from .client import Client, Json, NoAnswer
from .settings import Election

_LOG = logging.getLogger("leader")
_RETRY_SECONDS = 2.0


class LostError(RuntimeError):
    """The lease could not be renewed in time: another replica may be the leader now."""


class Candidate:
    """One replica."""

    def __init__(self, client: Client, election: Election) -> None:
        self._client = client
        self._election = election
        self._identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        self._leases = f"/apis/coordination.k8s.io/v1/namespaces/{election.namespace}/leases"
        self._seen: Json = {}
        self._seen_at = 0.0

    def acquire(self) -> None:
        """Return as the leader."""
        while not self._try():
            time.sleep(_RETRY_SECONDS)
        _LOG.info("became the leader identity=%s", self._identity)

    def keep(self) -> None:
        """Renew the lease for as long as that is possible, then raise a LostError. It is not released at the end."""
        renewed = time.monotonic()
        while time.monotonic() - renewed < self._election.renew_deadline:
            time.sleep(_RETRY_SECONDS)
            if self._try():
                renewed = time.monotonic()
        raise LostError("leader election lost")

    def _try(self) -> bool:
        """Take or renew the lease; whether it is ours."""
        try:
            return self._update_or_create()
        except (ApiError, NoAnswer, OSError) as error:
            _LOG.info("no lease: %s", error)
            return False

    def _update_or_create(self) -> bool:
        path = f"{self._leases}/{self._election.id}"
        try:
            lease = self._client.request("GET", path, timeout=self._election.renew_deadline)
        except ApiError as error:
            if error.status != 404:
                raise
            metadata = {"name": self._election.id, "namespace": self._election.namespace}
            self._client.request("POST", self._leases, {"metadata": metadata, "spec": self._spec({})})
            return True
        if not self._is_free(lease["spec"]):
            return False
        self._client.request("PUT", path, {**lease, "spec": self._spec(lease["spec"])})
        return True

    def _is_free(self, spec: Json) -> bool:
        """Whether it is ours, or has not been renewed for as long as it lasts, by our own clock."""
        if spec != self._seen:
            self._seen, self._seen_at = spec, time.monotonic()
        expired = time.monotonic() - self._seen_at > spec.get("leaseDurationSeconds", 0)
        return spec.get("holderIdentity") in (None, "", self._identity) or expired

    def _spec(self, before: Json) -> Json:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        is_ours = before.get("holderIdentity") == self._identity
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": int(self._election.lease_duration),
            "acquireTime": before["acquireTime"] if is_ours else now,
            "renewTime": now,
            "leaseTransitions": before.get("leaseTransitions", 0) + (bool(before) and not is_ours),
        }
