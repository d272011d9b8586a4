# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets in Kubernetes objects are masked everywhere, and a changed secret is marked as changed."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import CHANGED
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import MASK
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import masked_pair, masker_of
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils._secrets.test_masking import (
    ALONE,
    EVERY,
    SECRET,
    with_secret,
)

# A copy of the whole object; %% is replaced with the secret.
COPY: dict[str, Any] = {
    "metadata": {
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": '{"spec":{"p":"a=b\\ndruid.x.password=%%\\n"}}'
        }
    }
}
IN_MANIFESTS = [*EVERY, COPY]


@pytest.mark.parametrize("value", IN_MANIFESTS)
def test_manifests_are_masked(value: Any) -> None:
    whole = {"data": [with_secret(value, SECRET)]}
    assert masked_pair(whole, whole)[0] == masked_pair(whole, whole)[1]
    assert SECRET not in repr(masked_pair(whole, whole))
    before, after = masked_pair(whole, {"data": [with_secret(value, "another-one")]})
    assert repr(after).count(CHANGED) == 1
    assert SECRET not in repr((before, after))
    assert "another-one" not in repr((before, after))


@pytest.mark.parametrize("value", ALONE)
def test_secrets_in_a_server_message_are_masked(value: Any) -> None:
    assert masker_of([{"x": [with_secret(value, SECRET)]}]).text(f"rejected: {SECRET}!") == f"rejected: {MASK}!"


def test_copy_of_the_whole_object_is_not_a_secret() -> None:
    assert masker_of([with_secret(COPY, SECRET)]).secrets == ()


def test_all_values_of_a_secret_are_masked() -> None:
    encoded = base64.b64encode(b"hunter2-of-mine").decode()
    masker = masker_of([{"kind": "Secret", "metadata": {"name": "any"}, "data": {"any": encoded, "binary": "/w=="}}])
    assert masker.text(f"{encoded} or hunter2-of-mine in any") == f"{MASK} or {MASK} in any"
    assert masker.text("/w==") == MASK
