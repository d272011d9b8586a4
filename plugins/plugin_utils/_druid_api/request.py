# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A request to Druid as a step, and the connection that the requests of a reconcile share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, ClassVar

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.error_findings import error_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import Context, Druid, Result, Step


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

    def carry_out(self, context: Context) -> Result[Any]:
        try:
            return self.send(context.druid(self.title), context)
        except DruidError as error:
            return self.failed(error, context)

    @abstractmethod
    def send(self, client: Any, context: Context) -> Result[Any]:
        """Send it, after the steps that led to the state of the context. DruidError if it fails."""

    def failed(self, error: DruidError, _context: Context) -> Result[Any]:
        """Return the result of a request that failed."""
        finding = error_finding(error, self.subject)
        return Result(self, error=finding.message, reason=finding.reason)
