# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Errors of the Kubernetes API, and which requests are retried."""

from __future__ import annotations

from typing import Any

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    ApiError,
    KubernetesError,
    Unreachable,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._kubernetes.test_api import (
    CONFIG_MAP,
    OPERATIONS,
    Call,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import (
    BROKEN,
    Response,
    Server,
    serving,
)


def busy(*headers: tuple[str, str]) -> Response:
    return Response(429, {"message": "slow down"}, headers)


# (Retry-After of the server, pause in seconds)
PAUSES = [
    ("2", 2.0),
    ("0", 0.0),
    ("3600", 10.0),
    ("-1", 1.0),
    ("nan", 1.0),
    ("1e3", 1.0),
    ("Wed, 21 Oct 2026 07:28:00 GMT", 1.0),
]


@pytest.mark.parametrize("method", ["get", "replace", "apply", "create"])
@pytest.mark.parametrize(("retry_after", "pause"), PAUSES)
def test_too_many_requests_are_retried(
    server: Server, api: KubernetesApi, method: str, retry_after: str, pause: float
) -> None:
    server.responses = [busy(("Retry-After", retry_after)), busy(), Response(body={"kind": "ConfigMap"})]
    arguments = ("ConfigMap", "ns", "n") if method == "get" else (CONFIG_MAP,)
    assert getattr(api, method)(*arguments) == {"kind": "ConfigMap"}
    assert api.pauses == [pause, 1.0]  # type: ignore[attr-defined]


def test_retries_are_limited(server: Server, api: KubernetesApi) -> None:
    server.responses = [busy()]
    with pytest.raises(ApiError, match="429 slow down"):
        api.apply(CONFIG_MAP)
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [500, 503])
def test_other_errors_are_not_retried(server: Server, api: KubernetesApi, status: int) -> None:
    server.responses = [Response(status, {"message": "later"}, (("Retry-After", "1"),))]
    with pytest.raises(ApiError, match=f"{status} later"):
        api.get("ConfigMap", "ns", "n")
    assert len(server.requests) == 1


def test_broken_connection_of_a_read_is_retried(server: Server, api: KubernetesApi) -> None:
    server.responses = [BROKEN, BROKEN, Response(body={"kind": "ConfigMap"})]
    assert api.get("ConfigMap", "ns", "n") == {"kind": "ConfigMap"}


WRITES: list[Call] = [
    lambda api: api.apply(CONFIG_MAP),
    lambda api: api.create(CONFIG_MAP),
    lambda api: api.replace(CONFIG_MAP),
    lambda api: api.delete("ConfigMap", "ns", "n", "u-1"),
    lambda api: api.json_patch("ConfigMap", "ns", "n", OPERATIONS),
]


@pytest.mark.parametrize("write", WRITES)
def test_broken_connection_of_a_write_is_not_retried(server: Server, api: KubernetesApi, write: Call) -> None:
    server.responses = [BROKEN, Response(body={})]
    with pytest.raises(Unreachable, match="did not respond"):
        write(api)
    assert len(server.requests) == 1


def test_redirect_is_not_followed(server: Server, api: KubernetesApi) -> None:
    server.responses = [Response(302, "", (("Location", f"{server.url}/elsewhere"),))]
    with pytest.raises(KubernetesError):
        api.get("ConfigMap", "ns", "n")
    assert [request.path for request in server.requests] == ["/api/v1/namespaces/ns/configmaps/n"]


def test_refused_connection() -> None:
    with serving() as server:
        url = server.url
    with urllib3.PoolManager() as pool, pytest.raises(Unreachable) as caught:
        KubernetesApi(url, pool).list_objects("Druid", "ns")
    message = str(caught.value)
    assert message.startswith(f"Cannot list druids.druid.apache.org: the Kubernetes API at {url} did not respond (")
    assert "Connection refused" in message
    assert message.endswith(
        "Check the address (kubeconfig, context, host), the network, the proxy and the certificates."
    )


def status(message: str, **details: Any) -> dict[str, Any]:
    return {"kind": "Status", "message": message, "details": details}


LIST: Call = lambda api: api.list_objects("Druid", "ns")  # noqa: E731
APPLY: Call = lambda api: api.apply(CONFIG_MAP)  # noqa: E731
# (id, call, response, message of the error)
ERRORS: list[tuple[str, Call, Response, str]] = [
    (
        "forbidden",
        LIST,
        Response(403, status("no access")),
        "Cannot list Druid in namespace ns: 403 no access. The user needs the verb list on druids.druid.apache.org "
        "(RBAC), or an admission policy forbids it.",
    ),
    (
        # of kube-apiserver 1.34, if the object does not exist and the user may only patch
        "forbidden creation by an apply",
        APPLY,
        Response(
            403,
            status('configmaps "n" is forbidden: User "u" cannot create resource "configmaps" in API group "" in ...'),
        ),
        'Cannot patch ConfigMap n in namespace ns: 403 configmaps "n" is forbidden: User "u" cannot create resource '
        '"configmaps" in API group "" in .... The user needs the verb create on configmaps (RBAC), or an admission '
        "policy forbids it.",
    ),
    (
        "forbidden status",
        lambda api: api.patch_status("Druid", "ns", "c", OPERATIONS),
        Response(403, status("no access")),
        "Cannot patch Druid c in namespace ns: 403 no access. The user needs the verb patch on "
        "druids.druid.apache.org/status (RBAC), or an admission policy forbids it.",
    ),
    (
        "unauthorized",
        APPLY,
        Response(401, status("Unauthorized")),
        "Cannot patch ConfigMap n in namespace ns: 401 Unauthorized. Check the credentials (token, client "
        "certificate, exec plugin).",
    ),
    ("invalid", APPLY, Response(422, status("is invalid")), "Cannot patch ConfigMap n in namespace ns: 422 is invalid"),
    (
        "no CRD",
        LIST,
        Response(404, "404 page not found"),
        "Cannot list Druid in namespace ns: 404 page not found. The CRD druids.druid.apache.org is not installed: "
        "run the playbook druidops.druid.install_crds or apply config/crd.",
    ),
    (
        "only a reason",
        APPLY,
        Response(400, {"reason": "BadRequest"}),
        "Cannot patch ConfigMap n in namespace ns: 400 BadRequest",
    ),
    ("no message", APPLY, Response(500, {}), "Cannot patch ConfigMap n in namespace ns: 500 no message"),
    (
        "the page of a proxy",
        APPLY,
        Response(502, "<html>Bad Gateway</html>"),
        "Cannot patch ConfigMap n in namespace ns: 502 <html>Bad Gateway</html>",
    ),
    ("invalid UTF-8", APPLY, Response(500, b"\xff"), "Cannot patch ConfigMap n in namespace ns: 500 \ufffd"),
    (
        "a login page",
        LIST,
        Response(200, "<html>Log in</html>"),
        "Cannot list Druid in namespace ns: 200 <html>Log in</html>. This is not a response of a Kubernetes API. Check "
        "the address (kubeconfig, context, host) and the proxy.",
    ),
    (
        "another service",
        APPLY,
        Response(200, '["a"]'),
        'Cannot patch ConfigMap n in namespace ns: 200 ["a"]. This is not a response of a Kubernetes API. Check the '
        "address (kubeconfig, context, host) and the proxy.",
    ),
]


@pytest.mark.parametrize(("call", "response", "text"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_error_message(server: Server, api: KubernetesApi, call: Call, response: Response, text: str) -> None:
    server.responses = [response]
    with pytest.raises(ApiError) as caught:
        call(api)
    assert str(caught.value) == text


@pytest.mark.parametrize(("length", "shown"), [(500, "x" * 500), (501, "(a text of 501 characters)")])
def test_part_of_an_error_page_is_never_shown(server: Server, api: KubernetesApi, length: int, shown: str) -> None:
    """Part of a secret would not be masked."""
    server.responses = [Response(502, "x" * length)]
    with pytest.raises(ApiError) as caught:
        api.apply(CONFIG_MAP)
    assert f"502 {shown}" in str(caught.value)
    assert ("x" * 100 in str(caught.value)) == (length == 500)


def test_warnings_are_collected(server: Server, api: KubernetesApi) -> None:
    warnings = (("Warning", '299 - "unknown field \\"spec.x\\""'), ("Warning", '299 - "old"'), ("Warning", "nonsense"))
    server.responses = [Response(body={}, headers=warnings), Response(400, {}, (("Warning", '299 - "also then"'),))]
    api.apply(CONFIG_MAP)
    assert api.warnings == ['unknown field "spec.x"', "old"]
    with pytest.raises(ApiError):
        api.apply(CONFIG_MAP)
    assert api.warnings[2:] == ["also then"]
