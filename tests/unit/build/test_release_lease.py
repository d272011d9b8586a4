# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Lease is released, and which one is not, because it may be another operator's."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.build.release_lease import is_held, is_own_host, lease_path

PATH = "/apis/coordination.k8s.io/v1/namespaces/n/leases/druid-operator"
OF_NAMESPACE = "--leader-election-namespace=n"
UUID = "0f6c1b9e-6f43-4b0d-9c58-2d7b8d8f3a51"


@pytest.mark.parametrize(
    ("flags", "path"),
    [
        (["--leader-elect", "--leader-election-id=druid-operator", OF_NAMESPACE], PATH),
        (["run", "--leader-elect=true", "--leader-election-id", "druid-operator", OF_NAMESPACE, "--zap-x=1"], PATH),
        # the last one counts
        (["--leader-elect", "--leader-election-id=a", "--leader-election-id=druid-operator", OF_NAMESPACE], PATH),
        (["--leader-elect=false", "--leader-election-id=druid-operator", OF_NAMESPACE], ""),
        (["--leader-elect", "--leader-elect=false", "--leader-election-id=druid-operator", OF_NAMESPACE], ""),
        (["--leader-election-id=druid-operator", OF_NAMESPACE], ""),
        (["--leader-elect", OF_NAMESPACE], ""),
        ([], ""),
    ],
)
def test_path_of_the_lease(flags: list[str], path: str) -> None:
    assert lease_path(flags) == path


@pytest.mark.parametrize(
    ("environment", "is_own"),
    [
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "POD_NAME": "operator-1"}, True),
        # with hostNetwork, the name of the node
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "POD_NAME": "operator-2"}, False),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, False),
        ({"POD_NAME": "operator-1"}, False),
    ],
)
def test_host_of_its_own(environment: dict[str, str], is_own: bool) -> None:
    assert is_own_host(environment, "operator-1") == is_own


@pytest.mark.parametrize(
    ("holder", "held"),
    [
        (f"operator-1_{UUID}", True),
        (f"operator-11_{UUID}", False),
        (f"operator-2_{UUID}", False),
        ("operator-1", False),
        ("", False),
        (None, False),
    ],
)
def test_holder(holder: str | None, held: bool) -> None:
    assert is_held({"spec": {"holderIdentity": holder} if holder is not None else {}}, "operator-1") == held
