# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server as the runs see it: reads from the cache, creations with an owner, the operator's credentials."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..api import ApiError
from .cache import Cache
from .cached_answer import cached_answer
from .client import Client, Json, Unanswered
from .dependents import Dependents
from .injection import can_be_owned, injected
from .kinds import Kind, kind_of
from .owner import Owner, requesting_owner
from .request_path import Target, target
from .resources import NoSuchResourceError, Resources

_LOG = logging.getLogger("proxy")
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host"})


class _RefusedError(RuntimeError):
    """A request that is not passed on."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Behind:
    """What the proxy works with."""

    client: Client
    cache: Cache
    resources: Resources
    dependents: dict[Kind, Dependents]
    inject_owner_ref: bool

    def of(self, owner: Owner) -> Dependents | None:
        """The watches of the controller for the owner's kind."""
        return self.dependents.get(owner.gvk)

    def read(self, url: str, authorization: str | None) -> Json | None:
        """The cache's answer, None if there is none."""
        asked = target(url)
        if asked is None:
            return None
        owner = _owner(authorization, 500)
        answer = cached_answer(asked, owner, self.cache, self.resources, self.of)
        if answer is not None and asked.name and owner and self.inject_owner_ref:
            self._recover(owner, answer)
        return answer

    def create(self, url: str, authorization: str | None, body: bytes) -> bytes:
        """The body that is passed on."""
        asked = target(url)
        if asked is None or asked.subresource or not self.inject_owner_ref:
            return body
        try:
            resource = self.resources.of_plural(asked.group, asked.version, asked.plural)
        except NoSuchResourceError:
            return body
        owner = _owner(authorization, 500)
        if owner is None or not resource.cacheable:
            return body
        document = _document(body)
        by_reference = can_be_owned(owner, resource, document, asked.namespace)
        self._watch(owner, asked, kind_of(document), by_reference)
        return json.dumps(injected(owner, document, by_reference=by_reference)).encode()

    def _recover(self, owner: Owner, document: Json) -> None:
        if dependents := self.of(owner):
            threading.Thread(target=dependents.recover, args=(owner, document), daemon=True).start()

    def _watch(self, owner: Owner, asked: Target, kind: Kind, by_reference: bool) -> None:
        dependents = self.of(owner)
        if dependents and self.cache.covers(asked.namespace):
            dependents.watch(kind, by_owner=by_reference)


def _owner(authorization: str | None, status: int) -> Owner | None:
    try:
        return requesting_owner(authorization)
    except (ValueError, KeyError) as error:
        raise _RefusedError(status, "Could not get owner reference") from error


def _document(body: bytes) -> Json:
    try:
        document = json.loads(body)
        return {**document, "metadata": document.get("metadata") or {}, "kind": document["kind"]}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _RefusedError(400, "Could not deserialize request body") from error


def serve(behind: Behind, port: int) -> Callable[[], None]:
    """Serve in the background; what ends it."""
    server = _Server(behind, port)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    return server.server_close


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, behind: Behind, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.behind = behind


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        """Answer from the cache, or else pass on."""
        try:
            answer = self.server.behind.read(self.path, self.headers.get("Authorization"))
        except _RefusedError as refused:
            self._refuse(refused.status, str(refused))
            return
        except (ApiError, Unanswered):
            answer = None
        if answer is None:
            self._pass_on(self._body())
        else:
            _LOG.info("Read object from cache path=%s", self.path)
            content = json.dumps(answer, indent=2).encode()
            self._answer(200, content, ("Content-Type", "application/json"), ("X-Cache", "HIT"))

    def do_POST(self) -> None:
        """Pass on, with an owner."""
        try:
            body = self.server.behind.create(self.path, self.headers.get("Authorization"), self._body())
        except _RefusedError as refused:
            self._refuse(refused.status, str(refused))
        except (ApiError, Unanswered):
            self._refuse(500, "Unable to determine if virtual resource")
        else:
            self._pass_on(body)

    def do_other(self) -> None:
        """Pass on."""
        self._pass_on(self._body())

    do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_other  # noqa: N815

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _pass_on(self, body: bytes) -> None:
        """Ask the API server as the operator; the run's own Authorization stays here."""
        without = _HOP_BY_HOP | {"authorization"}
        headers = {name: value for name, value in self.headers.items() if name.lower() not in without}
        try:
            answer = self.server.behind.client.forward(self.command, self.path, headers, body or None)
        except Unanswered as error:
            self._refuse(502, str(error))
            return
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        self._stream(answer)

    def _stream(self, answer: Any) -> None:
        """Hand on piece by piece, since a watch may take its time."""
        if self.command == "HEAD" or answer.status in (204, 304):
            self.end_headers()
            answer.release_conn()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            try:
                for piece in answer.stream(decode_content=False):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")
            except Unanswered:
                # what has begun well can only be broken off
                self.close_connection = True
        answer.release_conn()

    def _answer(self, status: int, content: bytes, *headers: tuple[str, str]) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _refuse(self, status: int, message: str) -> None:
        self._answer(status, f"{message}\n".encode(), ("Content-Type", "text/plain; charset=utf-8"))
