# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is told of a resource has no secrets in it, however deeply its texts are nested."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import MASK
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import REPORTING
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import report
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import nested, resource

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "hunter2-of-mine"
HEADERS: dict[str, Any] = {"requestHeaders": {"X-Anything": SECRET}}


class Silent:
    """A transport that nothing may be sent with."""

    def request(self, method: str, url: str, **_arguments: Any) -> Any:
        raise AssertionError((method, url))


def described(**ingestion: Any) -> dict[str, Any]:
    """Return a resource of variables that has this beside, or instead of, the specification of a supervisor."""
    found = resource(ingestion=ingestion)
    del found["metadata"]["uid"]
    return found


@pytest.mark.parametrize("levels", [98, 330, 450, 900, 5000])
@pytest.mark.parametrize("place", ["spec", "nativeSpec", "annotation"])
def test_a_text_that_nobody_can_walk_down(place: str, levels: int) -> None:
    text = nested(levels)
    found = described(
        spec=text if place == "spec" else None,
        nativeSpec={**HEADERS, "context": {"a": text} if place == "nativeSpec" else {}},
    )
    found["metadata"]["annotations"] = {"a": text} if place == "annotation" else {}
    finding = Finding("RejectedByDruid", f"Invalid value: {SECRET!r}")
    made = Reconciled(found, Ingestion.from_resource(found), Plan((), (finding,)))
    told = report(REPORTING, KubernetesApi("https://192.0.2.1", Silent()), made, False, NOW)
    assert told.problems == (Finding("RejectedByDruid", f"Invalid value: '{MASK}'"),)


@pytest.mark.parametrize("levels", [330, 450, 900, 5000])
def test_a_specification_as_text_that_nobody_can_walk_down(levels: int) -> None:
    found = described(spec=nested(levels), nativeSpec=None)
    finding = Finding("InvalidSpec", "spec.ingestion.spec is nested too deeply.")
    made = Reconciled(found, Ingestion.from_resource(found), Plan((), (finding,)))
    assert report(REPORTING, KubernetesApi("https://192.0.2.1", Silent()), made, False, NOW).problems == (finding,)
