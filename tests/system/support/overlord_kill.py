# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Overlord is killed when several requests have come to the same moment, and revived while they all wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from testbed.druid.druid import Druid
from testbed.proxy import Answer, Forward, Go, Loss, Request
from testbed.recording_proxy import RecordingProxy

Result = TypeVar("Result")
Moment = Callable[[threading.Barrier], Go]

# The write requests to the Overlord.
WRITE = {"method": "POST", "path": r"/druid/indexer/v1/(supervisor|task)\b"}
# Seconds until a request without a response is considered lost.
_TIMEOUT = 120


def before(barrier: threading.Barrier) -> Go:
    """The Overlord is killed before it receives the request."""

    def go(request: Request, forward: Forward) -> Answer | Loss:
        barrier.wait()
        return forward(request)

    return go


def after(barrier: threading.Barrier) -> Go:
    """The Overlord is killed after the change, before the client gets the response."""

    def go(request: Request, forward: Forward) -> Answer | Loss:
        forward(request)
        barrier.wait()
        return Loss.CUT

    return go


def while_the_overlord_dies(
    druid: Druid, proxies: Sequence[RecordingProxy], moment: Moment, work: Callable[[], Result]
) -> Result:
    """Return what comes of the work, each of whose next writes meets the death at that moment."""
    barrier = threading.Barrier(len(proxies) + 1, lambda: druid.kill("coordinator"), _TIMEOUT)
    for proxy in proxies:
        proxy.fail_next(moment(barrier), **WRITE)
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(work)
        barrier.wait()
        druid.revive("coordinator")
        return result.result()
