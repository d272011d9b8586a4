# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The finding for an error of Druid: the kind of error decides the reason; the message names fields of the resource."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    Forbidden,
    InvalidResponse,
    ServerError,
    Unauthorized,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    DruidError,
    InvalidInput,
    UncertainState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import error_finding

URL = "http://druid:8888/x"
WHERE = ("POST", URL)
CUT = Unreachable(*WHERE, "cut off", sent=True, is_transient=True)


def after(error: DruidError, cause: DruidError) -> DruidError:
    """Return the error with the other as its cause."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (CUT, "DruidUnreachable"),
        (ServerError(500, "oops", *WHERE), "DruidUnreachable"),
        (InvalidResponse(200, "no JSON", *WHERE), "DruidUnreachable"),
        (Unauthorized(401, "", *WHERE), "Unauthorized"),
        (Forbidden(403, "", *WHERE), "Unauthorized"),
        (ApiError(400, "no such type", *WHERE), "RejectedByDruid"),
        (InvalidInput("spec", {}, "names no datasource"), "InvalidSpec"),
        # a failed confirmation after a connection error is not a rejection
        (after(DruidError("It is as it was."), CUT), "DruidUnreachable"),
        (after(UncertainState("It is not there."), ServerError(503, "", *WHERE)), "DruidUnreachable"),
        (after(DruidError("It is as it was."), ServerError(500, "Server Error", *WHERE)), "DruidUnreachable"),
        (after(DruidError("It is as it was."), ApiError(400, "no such type", *WHERE)), "RejectedByDruid"),
    ],
)
def test_reason_of_an_error(error: DruidError, reason: str) -> None:
    found = error_finding(error)
    assert (found.reason, found.is_problem, found.group) == (reason, True, None)
    assert found.message.startswith(str(error))
    assert ("spec.auth.secretRef" in found.message) is (reason == "Unauthorized")


def test_message_names_the_fields_of_the_resource() -> None:
    untrusted = error_finding(Unreachable(*WHERE, "not trusted", "Set ca_path to the CA"))
    assert untrusted.message.endswith("Set ca_path to the CA. Here ca_path is spec.endpoint.caSecretRef.")
    unresolved = error_finding(Unreachable(*WHERE, "unknown", "Check the option url, or client_cert"))
    named = (
        "druid_cluster_url, druid_ingestion_url",
        "else spec.endpoint.url, else the Service of the cluster's router",
    )
    assert [each for each in (*named, "only; client_cert is spec.endpoint.") if each not in unresolved.message] == []
    assert "Here" not in error_finding(CUT).message
