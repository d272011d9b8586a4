# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell ansible-operator's metrics endpoint what came of a pass."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from ansible_collections.druidops.druid.plugins.plugin_utils._census import Counted, Left, count, left_by
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics import Run, posts, values
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_post import NotPosted, post
from ansible_collections.druidops.druid.plugins.plugin_utils._task import NotThere
from ansible_collections.druidops.druid.plugins.plugin_utils._turn import NoTurn, turn
from ansible_collections.druidops.druid.plugins.plugin_utils._waiting import Outcome

TURN_SECONDS = 2.0
# All resources are counted by each pass that has written, and by the others this often at most.
CENSUS_PAUSE_SECONDS = 10

_Outcome = TypeVar("_Outcome", bound=Outcome[Any])

Census = Callable[[], Mapping[str, float] | None]


@dataclass(frozen=True)
class Telemetry(Generic[_Outcome]):
    """What is told of a kind: ``measure`` is about one task, ``counted`` about all resources."""

    counted: Counted
    measure: Callable[[_Outcome, Meter, float], Run]

    def tell(
        self, arguments: Mapping[str, Any], outcome: _Outcome | DruidopsError, meter: Meter, seconds: float
    ) -> str | None:
        """Post what there is to tell of a task; return why that did not go well, None when it did."""
        if isinstance(outcome, DruidopsError):
            run, left = failed(outcome, meter, seconds), Left(None) if isinstance(outcome, NotThere) else None
        else:
            run, left = self.measure(outcome, meter, seconds), left_by(outcome.report)
        census = partial(count, self.counted, meter.cache, arguments, left)
        is_news = meter.has_written or isinstance(outcome, NotThere)
        return tell(arguments["metrics_url"], self.counted.kind.lower(), run, census, is_news)


def failed(error: DruidopsError, meter: Meter, seconds: float) -> Run:
    """Return what there is to tell of a task that could not be carried out; a resource that has gone is no failure."""
    is_gone = isinstance(error, NotThere)
    return Run(
        seconds=seconds,
        outcome="unchanged" if is_gone else "failed",
        phases=meter.phases.seconds,
        errors={} if is_gone else {meter.phases.last: 1},
        requests=meter.requests,
    )


def tell(url: str, kind: str, run: Run, count: Census, is_news: bool) -> str | None:
    """Post the metrics of a run, in a few seconds at the most; return why not all were, None when they were.

    Runs for all kinds take turns: ansible-operator (v1.42) puts a metric that it does not know yet into a map without a
    lock, and two at the same time would end it; and a gauge that becomes 0 takes two posts. ``count`` counts the
    resources, which is ``is_news`` after a write.
    """
    try:
        file = Path(tempfile.gettempdir(), f"druidops-metrics-{urlsplit(url).netloc.replace('/', '-')}")
        with turn(file, TURN_SECONDS) as mine:
            census = count() if is_news or mine.is_due(kind, CENSUS_PAUSE_SECONDS) else None
            post(url, posts(kind, values(replace(run, census=census), time.time())))
            if census is not None:
                mine.note(kind)
    except (NoTurn, NotPosted, KubernetesError) as error:
        return str(error)
    except (OSError, RecursionError, ValueError) as error:
        # /tmp is full, a resource among those that are counted is nested too deeply, the URL is none: after all writes
        return f"The metrics could not be told to {url}: {error!r}"
    return None
