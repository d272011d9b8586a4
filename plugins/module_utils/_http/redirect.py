# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Redirects: a request is sent on to the leader that a server reports, with the same path, and to no other server."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from ansible_collections.druidops.druid.plugins.module_utils._http import address, error_message
from ansible_collections.druidops.druid.plugins.module_utils._http.address import path
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Redirected
from ansible_collections.druidops.druid.plugins.module_utils._http.request import SERVICES, HttpRequest
from ansible_collections.druidops.druid.plugins.module_utils._http.transport import Response, Transport

# The redirects that keep method and body. Druid's RedirectFilter uses them to redirect to the leader.
METHOD_PRESERVING = frozenset({307, 308})
MAX_HOPS = 3


class Redirects:
    """Follows redirects to the configured servers, and to the leaders that these report."""

    def __init__(self, transport: Transport, connection: Connection) -> None:
        self._transport = transport
        self._credential_hosts = connection.credential_hosts
        self._trusted = set(connection.urls)
        self._leaders: dict[str, str] = {}

    def leader_of(self, service: str) -> str | None:
        """Return the server that was reported as leader of the service, None if there is none."""
        return self._leaders.get(service)

    def forget(self, server: str) -> None:
        """Remove this server from the known leaders."""
        self._leaders = {service: leader for service, leader in self._leaders.items() if leader != server}

    def follow(self, request: HttpRequest, url: str) -> Response:
        """Send the request and follow redirects. Redirected if the target is not trusted."""
        for _hop in range(MAX_HOPS + 1):
            response = self._transport.exchange(request.method, url, request.body, request.headers)
            if not 300 <= response.status < 400:
                return response
            url = self._next_url(request, response)
        message = f"too many redirects, the last one to {address.redacted(url)}"
        raise _redirected(response, message, "The servers disagree about the leader. Retry, or check their logs")

    def _next_url(self, request: HttpRequest, response: Response) -> str:
        """Return the URL on the other server. Its path and query are our own, never those of the redirect."""
        try:
            url = urljoin(response.url, response.headers["Location"])
            target = address.origin(url)
        except (KeyError, ValueError):
            raise _redirected(response, "invalid redirect", "Check the option url and the proxy") from None
        message, hint = f"a redirect to {target}", error_message.hint_of_redirect(target)
        parts, tail = urlsplit(url), request.path + request.query
        location = f"{target}{parts.path}?{parts.query}".rstrip("?")
        is_trusted = location in {base + tail for base in self._trusted}
        if response.status not in METHOD_PRESERVING or not (is_trusted or location == target + tail):
            raise _redirected(response, message, hint)
        if response.url.startswith("https:") and not url.startswith("https:"):
            hint = "Redirects from https to http are not followed. Set url to the correct server"
            raise _redirected(response, message, hint)
        if not all(address.is_listed(target, hosts) for hosts in self._credential_hosts):
            raise _redirected(response, message, error_message.hint_of_unlisted(target))
        if not is_trusted and not self._is_leader(request, response, target):
            raise _redirected(response, message, hint)
        return location

    def _is_leader(self, request: HttpRequest, response: Response, target: str) -> bool:
        """Return whether the redirecting server reports the target as leader, and trust it in that case.

        Druid never redirects ``/leader`` (OverlordRedirectInfo and CoordinatorRedirectInfo). A login page or a load
        balancer in front of Druid redirects that path as well, so its targets are not trusted.
        """
        base = next(trusted for trusted in self._trusted if address.is_below(response.url, trusted))
        service = request.service or "coordinator"
        for each in (service, *(SERVICES.keys() - {service})):
            leader_url = f"{base}{path('druid', each, 'v1', 'leader')}"
            leader = self._transport.exchange("GET", leader_url, None, HttpRequest("GET", "").headers)
            if leader.status == 200 and _is_origin(leader.body, target):
                self._trusted.add(target)
                self._leaders[service] = target
                return True
        return False


def _redirected(response: Response, message: str, hint: str) -> Redirected:
    return Redirected(response.status, message, response.method, address.redacted(response.url), hint)


def _is_origin(body: bytes, origin: str) -> bool:
    """Return whether the body consists of this address, with or without quotes."""
    try:
        return address.origin(body.decode("ascii").strip().strip('"')) == origin
    except ValueError:
        return False
