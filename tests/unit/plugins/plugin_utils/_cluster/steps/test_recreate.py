# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a quota is exceeded only because of the object that is to be replaced."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.recreate import leaves_room
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError

SETS, SERVICES = "count/statefulsets.apps", "count/services"


def rejection(requested: str, used: str, limited: str, status: int = 403) -> ApiError:
    """Return a rejection with the message of the API server."""
    message = f"exceeded quota: limit, requested: {requested}, used: {used}, limited: {limited}"
    document = {"message": f'statefulsets.apps "n" is forbidden: {message}'}
    return ApiError("create", "statefulsets.apps", "StatefulSet", "ns", "n", status, document)


# (rejection, kind, whether the quota suffices after the deletion of the old object)
TABLE: list[tuple[ApiError, str, bool]] = [
    (rejection(f"{SETS}=1", f"{SETS}=1", f"{SETS}=1"), "StatefulSet", True),
    (rejection(f"{SETS}=1", f"{SETS}=12", f"{SETS}=12"), "StatefulSet", True),
    (rejection(f"{SETS}=1", f"{SETS}=1k", f"{SETS}=1k"), "StatefulSet", True),
    # the quota is below the current usage
    (rejection(f"{SETS}=1", f"{SETS}=2", f"{SETS}=1"), "StatefulSet", False),
    (rejection(f"{SETS}=1", f"{SETS}=0", f"{SETS}=0"), "Deployment", False),
    (rejection("services=1", "services=3", "services=3"), "Service", True),
    (rejection(f"{SERVICES}=1,services=1", f"{SERVICES}=3,services=3", f"{SERVICES}=3,services=3"), "Service", True),
    (rejection(f"{SERVICES}=1,services=1", f"{SERVICES}=3,services=4", f"{SERVICES}=3,services=3"), "Service", False),
    # the old object may not use this resource
    (rejection("services.loadbalancers=1", "services.loadbalancers=1", "services.loadbalancers=1"), "Service", False),
    (rejection("services=1,services.nodeports=1", "services=1,services.nodeports=1", "services=1"), "Service", False),
    (rejection(f"{SETS}=1", f"{SETS}=1", f"{SETS}=1", status=422), "StatefulSet", False),
    (rejection(f"{SETS}=1", f"{SETS}=x", f"{SETS}=1"), "StatefulSet", False),
    (rejection(f"{SETS}=1", "", ""), "StatefulSet", False),
    (ApiError("create", "statefulsets.apps", "StatefulSet", "ns", "n", 403, {"message": "no"}), "StatefulSet", False),
]


@pytest.mark.parametrize(("error", "kind", "has_room"), TABLE)
def test_quota_suffices_after_the_deletion(error: ApiError, kind: str, has_room: bool) -> None:
    assert leaves_room(error, kind) is has_room
