# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting until servers that are to be stopped have nothing left to do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item
from ansible_collections.druidops.druid.plugins.module_utils._operations.wait_for_all import Wait, wait_for_all
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError


class Leaving(Protocol):
    """A server that is to be stopped: what it waits for before that, and what to do if it does not get there."""

    @property
    def goal(self) -> str: ...

    @property
    def remedy(self) -> str: ...

    def awaited(self) -> str:
        """Return what it waits for, as a part of a sentence; an empty text if it can be stopped."""


def wait_for_leaving(leaving: Sequence[tuple[Item, Leaving]], report: ModuleResult, timeout: float) -> None:
    """Wait until each of the servers can be stopped. Otherwise its item fails, with the remedy in the message."""
    waits = [
        Wait(
            partial(_awaited, server),
            lambda awaited: not awaited,
            f"{report.name} {item.result['server']} {server.goal}",
        )
        for item, server in leaving
    ]
    wait_for_all(waits, timeout)
    for (item, server), wait in zip(leaving, waits, strict=True):
        with report.part_of(item):
            try:
                wait.outcome()
            except WaitTimeout as timed_out:
                problem = f"{timed_out.last[0].upper()}{timed_out.last[1:]}."
                raise DruidError(f"{timed_out} {problem} {server.remedy}") from None


def _awaited(server: Leaving) -> str:
    """Return what a server waits for; a Coordinator or an Overlord that does not respond may be restarting."""
    try:
        return server.awaited()
    except ServerError as error:
        return str(error).rstrip(".")
    except Unreachable as error:
        if not (error.is_transient or error.is_timeout):
            raise
        return str(error).rstrip(".")
