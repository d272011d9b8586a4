# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts in a repository on loopback, with the certificate of the API server."""

from __future__ import annotations

import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from testbed.clients import helm
from testbed.control_plane import ControlPlane

NAME = "notes"
_METADATA = "apiVersion: v2\nname: notes\ndescription: A ConfigMap.\nversion: {version}\n"
_TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  version: {{ .Chart.Version | quote }}
  text: {{ .Values.text | quote }}
"""


@dataclass
class Repository:
    """Its URL, and the paths of all requests."""

    url: str = ""
    requests: list[str] = field(default_factory=list)


def packaged(directory: Path, version: str, **templates: str) -> Path:
    """Return the archive of a chart with these further templates."""
    chart = directory / f"source-{version}"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text(_METADATA.format(version=version), encoding="utf-8")
    (chart / "values.yaml").write_text('text: ""\n', encoding="utf-8")
    for name, text in {"note": _TEMPLATE, **templates}.items():
        (chart / "templates" / f"{name}.yaml").write_text(text, encoding="utf-8")
    run("package", str(chart), "--destination", str(directory))
    return directory / f"{NAME}-{version}.tgz"


def run(*words: str, **environment: str) -> str:
    """Run helm without an API server."""
    command = [str(helm()), *words]
    done = subprocess.run(command, env={**os.environ, **environment}, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def repository(plane: ControlPlane, directory: Path) -> Iterator[Repository]:
    """Serve the archives in the directory, with their index, by HTTPS."""
    files = plane.ca_file.parent
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(files / "apiserver.crt", files / "apiserver.key")
    found = Repository()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_handler(found), directory=str(directory)))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    found.url = f"https://127.0.0.1:{server.server_port}/charts"
    run("repo", "index", str(directory), "--url", found.url)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(repository: Repository) -> type[SimpleHTTPRequestHandler]:
    class Handler(SimpleHTTPRequestHandler):
        def translate_path(self, path: str) -> str:
            return super().translate_path(path.removeprefix("/charts"))

        def log_message(self, _format: str, *_arguments: Any) -> None:
            repository.requests.append(self.path)

    return Handler
