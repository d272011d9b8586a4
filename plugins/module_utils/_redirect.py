# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a server sends us, and whether credentials and bodies may go there: to leaders, and to nobody else."""

from __future__ import annotations

from urllib.parse import urljoin

from ansible_collections.druidops.druid.plugins.module_utils import _address, _hints
from ansible_collections.druidops.druid.plugins.module_utils._address import path
from ansible_collections.druidops.druid.plugins.module_utils._errors import Redirected
from ansible_collections.druidops.druid.plugins.module_utils._request import SERVICES, Request
from ansible_collections.druidops.druid.plugins.module_utils._transport import Answer, Transport

# A redirect that keeps method and body: Druid's RedirectFilter, from one that does not lead to the leader.
SAME_AGAIN = frozenset({307, 308})
MOST_HOPS = 3


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

    def follow(self, request: Request, url: str) -> Answer:
        """Send the request to the URL and to where it is redirected; Redirected when that is no place for it."""
        for _hop in range(MOST_HOPS + 1):
            answer = self._transport.exchange(request.method, url, request.body, request.headers)
            if not 300 <= answer.status < 400:
                return answer
            url = self._next(request, answer)
        words = f"one redirect after another, the last one to {_address.shown(url)}"
        raise _redirected(answer, words, "The servers do not agree who leads: try again, or look at their logs")

    def _next(self, request: Request, answer: Answer) -> str:
        try:
            url = urljoin(answer.url, answer.headers["Location"])
            target = _address.origin(url)
        except (KeyError, ValueError):
            raise _redirected(answer, "a redirect to nowhere", "Check the option url and the proxy") from None
        words = f"a redirect to {_address.shown(url).partition('?')[0]}"
        if answer.status not in SAME_AGAIN:
            raise _redirected(answer, words, _hints.of_redirect(target))
        if answer.url.startswith("https:") and not url.startswith("https:"):
            raise _redirected(answer, words, "No request goes from https to http. Name the right server in url")
        if not any(_address.is_below(url, base) for base in self._trusted):
            self._trust(request, answer, url, words)
        return url

    def _trust(self, request: Request, answer: Answer, url: str, words: str) -> None:
        """Trust the target when the server that sends us there calls it the leader: nobody else can know that.

        ``/leader`` is answered by each server itself, never by a redirect (Druid's OverlordRedirectInfo and
        CoordinatorRedirectInfo); a login page or a balancer before Druid that redirects does so for it, too.
        """
        base = next(trusted for trusted in self._trusted if _address.is_below(answer.url, trusted))
        target = _address.origin(url)
        service = request.service or "coordinator"
        for each in (service, *(SERVICES.keys() - {service})):
            leader_url = f"{base}{path('druid', each, 'v1', 'leader')}"
            leader = self._transport.exchange("GET", leader_url, None, Request("GET", "").headers)
            if leader.status == 200 and _is_origin(leader.body, target) and _address.is_below(url, target):
                self._trusted.add(target)
                self._leaders[service] = target
                return
        raise _redirected(answer, words, _hints.of_redirect(target))


def _redirected(answer: Answer, words: str, hint: str) -> Redirected:
    return Redirected(answer.status, words, answer.method, _address.shown(answer.url), hint)


def _is_origin(body: bytes, origin: str) -> bool:
    """Return whether this is the address, alone, in quotes or not."""
    try:
        return _address.origin(body.decode("ascii").strip().strip('"')) == origin
    except ValueError:
        return False
