# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A request to Druid as a step, and findings from the errors of Druid's API. Pure."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    Forbidden,
    InvalidResponse,
    ServerError,
    Unauthorized,
    UnknownPath,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput, MissingRole
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import (
    Context,
    Difference,
    Druid,
    Step,
    StepResult,
)


@contextmanager
def connected_once(connect: Callable[[str], AbstractContextManager[Any]]) -> Iterator[Druid]:
    """Yield a function that returns the client of Druid; only the first call that succeeds connects."""
    clients: list[Any] = []
    with ExitStack() as stack:

        def druid(purpose: str) -> Any:
            if not clients:
                clients.append(stack.enter_context(connect(purpose)))
            return clients[0]

        yield druid


class Request(Step):
    """A request to Druid."""

    in_druid: ClassVar[bool] = True

    @property
    def subject(self) -> str:
        """The object at the beginning of a message about a failure; empty if the error names it."""
        return ""

    def carry_out(self, context: Context) -> StepResult[Any]:
        try:
            return self.send(context.druid(self.title), context)
        except DruidError as error:
            return self.failed(error, context)

    @abstractmethod
    def send(self, client: Any, context: Context) -> StepResult[Any]:
        """Send it, after the steps that led to the state of the context. DruidError if it fails."""

    def failed(self, error: DruidError, _context: Context) -> StepResult[Any]:
        """Return the result of a request that failed."""
        finding = error_finding(error, self.subject)
        return StepResult(self, error=finding.message, reason=finding.reason)


@dataclass(frozen=True)
class Write(Request):
    """Create, update or remove an object in Druid."""

    # required: without field(), a default of another base class would be that of this one
    change: DruidChange = field()

    @property
    def title(self) -> str:
        return self.change.title

    @property
    def differences(self) -> tuple[Difference, ...]:
        return (Difference(self.change.what, *self.change.marked),)


_REASONS: tuple[tuple[type[DruidError], str], ...] = (
    (MissingRole, reasons.ROLE_NOT_FOUND),
    (InvalidInput, reasons.INVALID_SPEC),
    (Unreachable, reasons.DRUID_UNREACHABLE),
    (InvalidResponse, reasons.DRUID_UNREACHABLE),
    (UnknownPath, reasons.DRUID_UNREACHABLE),
    (Unauthorized, reasons.UNAUTHORIZED),
    (Forbidden, reasons.UNAUTHORIZED),
    (ServerError, reasons.DRUID_UNREACHABLE),
)
_CREDENTIALS = (
    "The user and its password are in the Secret of spec.auth.secretRef. Grant the permission in Druid, or reference "
    "another Secret."
)
# Errors name module options: the field of the resource for each.
_FIELDS: Mapping[str, str] = {
    "url": (
        "the option url of the task (in the roles: druid_cluster_url, druid_ingestion_url) if set, else "
        "spec.endpoint.url, else the Service of the cluster's router, whose name is known inside of Kubernetes only"
    ),
    "ca_path": "spec.endpoint.caSecretRef",
    "client_cert": "spec.endpoint.clientCertificateSecretRef",
    "client_key": "spec.endpoint.clientCertificateSecretRef",
}


class ConnectionUnavailable(DruidError):
    """Something that the connection to Druid needs does not exist."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.finding = Finding(reason, message)


def resource_field(option: str) -> str:
    """Return the field of the resource for a module option; the option itself if there is none."""
    return _FIELDS.get(option, option)


def error_finding(error: DruidError, what: str = "") -> Finding:
    """Return a finding with the reason for the type of the error, and its message, which begins with `what`."""
    if isinstance(error, ConnectionUnavailable):
        return error.finding
    root = _root_error(error)
    reason = next((reason for kind, reason in _REASONS if isinstance(root, kind)), reasons.REJECTED_BY_DRUID)
    message = " ".join((str(error), *_remarks(reason, str(error))))
    return Finding(reason, f"{what[0].upper()}{what[1:]}: {message}" if what else message)


def _root_error(error: DruidError) -> DruidError:
    """Return the cause of an error, if Druid did not respond; else the error itself.

    A Router without an Overlord responds with 500 or 502.
    """
    return error.__cause__ if isinstance(error.__cause__, Unreachable | ServerError) else error


def _remarks(reason: str, text: str) -> Iterator[str]:
    if reason == reasons.UNAUTHORIZED:
        yield _CREDENTIALS
    named = [f"{option} is {field}" for option, field in _FIELDS.items() if re.search(rf"\b{option}\b", text)]
    if named:
        yield f"Here {'; '.join(named)}."
