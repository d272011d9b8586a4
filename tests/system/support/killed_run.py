# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A reconcile that is killed before or after one of its requests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, connection, run
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient


class Killed(BaseException):
    """The process ends here."""


@dataclass
class Dying:
    """A transport whose process is killed at the n-th request from the first one of a method on: before or after it."""

    transport: Any
    last: int
    is_sent: bool
    first: str
    count: int = 0

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send the request, unless it is the last one."""
        self.count += self.count > 0 or method == self.first
        if self.count == self.last and not self.is_sent:
            raise Killed
        answer = self.transport.request(method, url, **arguments)
        if self.count == self.last:
            raise Killed
        return answer


def dying_pass(live: NamespaceClient, name: str, last: int, is_sent: bool, first: str = "DELETE") -> bool:
    """Reconcile, and be killed at the n-th request from the first one of that method on; False if it ends before."""
    api = connection(live)
    dying = replace(api, transport=Dying(api.transport, last, is_sent, first))
    try:
        run(dying, cluster_request(name, live.namespace, options=Options()), lambda _text: None, Clock())
    except Killed:
        return True
    return False
