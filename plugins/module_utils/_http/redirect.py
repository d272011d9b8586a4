# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a server sends us, and whether credentials and bodies may go there: to leaders, and to nobody else."""

from __future__ import annotations

from urllib.parse import urljoin

from ansible_collections.druidops.druid.plugins.module_utils._http import address, error_hints
from ansible_collections.druidops.druid.plugins.module_utils._http.address import path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Redirected
from ansible_collections.druidops.druid.plugins.module_utils._http.request import SERVICES, Request
from ansible_collections.druidops.druid.plugins.module_utils._http.transport import Response, Transport

# A redirect that keeps method and body: Druid's RedirectFilter, from one that does not lead to the leader.
METHOD_PRESERVING = frozenset({307, 308})
MAX_HOPS = 3


class Redirects:
    """Follows redirects to servers that are ``named``, and to those that they call their leader."""

    def __init__(self, transport: Transport, named: tuple[str, ...]) -> None:
        self._transport = transport
        self._trusted = set(named)
        self._leaders: dict[str, str] = {}

    def leader_of(self, service: str) -> str | None:
        """Return the server that others called the leader of the service, None if none did."""
        return self._leaders.get(service)

    def forget(self, server: str) -> None:
        """Forget that this server leads anything."""
        self._leaders = {service: leader for service, leader in self._leaders.items() if leader != server}

    def follow(self, request: Request, url: str) -> Response:
        """Send the request to the URL and to where it is redirected; Redirected when that is no place for it."""
        for _hop in range(MAX_HOPS + 1):
            response = self._transport.exchange(request.method, url, request.body, request.headers)
            if not 300 <= response.status < 400:
                return response
            url = self._next_url(request, response)
        message = f"one redirect after another, the last one to {address.redacted(url)}"
        raise _redirected(response, message, "The servers do not agree who leads: try again, or look at their logs")

    def _next_url(self, request: Request, response: Response) -> str:
        try:
            url = urljoin(response.url, response.headers["Location"])
            target = address.origin(url)
        except (KeyError, ValueError):
            raise _redirected(response, "a redirect to nowhere", "Check the option url and the proxy") from None
        message = f"a redirect to {address.redacted(url).partition('?')[0]}"
        if response.status not in METHOD_PRESERVING:
            raise _redirected(response, message, error_hints.of_redirect(target))
        if response.url.startswith("https:") and not url.startswith("https:"):
            raise _redirected(response, message, "No request goes from https to http. Name the right server in url")
        if not any(address.is_below(url, base) for base in self._trusted):
            self._trust(request, response, url, message)
        return url

    def _trust(self, request: Request, response: Response, url: str, message: str) -> None:
        """Trust the target when the server that sends us there calls it the leader: nobody else can know that.

        ``/leader`` is answered by each server itself, never by a redirect (Druid's OverlordRedirectInfo and
        CoordinatorRedirectInfo); a login page or a balancer before Druid that redirects does so for it, too.
        """
        base = next(trusted for trusted in self._trusted if address.is_below(response.url, trusted))
        target = address.origin(url)
        service = request.service or "coordinator"
        for each in (service, *(SERVICES.keys() - {service})):
            leader_url = f"{base}{path('druid', each, 'v1', 'leader')}"
            leader = self._transport.exchange("GET", leader_url, None, Request("GET", "").headers)
            if leader.status == 200 and _is_origin(leader.body, target) and address.is_below(url, target):
                self._trusted.add(target)
                self._leaders[service] = target
                return
        raise _redirected(response, message, error_hints.of_redirect(target))


def _redirected(response: Response, message: str, hint: str) -> Redirected:
    return Redirected(response.status, message, response.method, address.redacted(response.url), hint)


def _is_origin(body: bytes, origin: str) -> bool:
    """Return whether this is the address, alone, in quotes or not."""
    try:
        return address.origin(body.decode("ascii").strip().strip('"')) == origin
    except ValueError:
        return False
