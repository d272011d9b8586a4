# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Druid whose servers the playbook rolling_restart restarts: an inventory, and what takes the place of systemd."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible, Run
from testbed.druid.druid import Druid
from testbed.druid.settings import type_of

PLAYBOOK = "druidops.druid.rolling_restart"
GROUPS = {
    "historical": "druid_historical",
    "middleManager": "druid_middle_manager",
    "indexer": "druid_indexer",
    "broker": "druid_broker",
    "router": "druid_router",
    "coordinator": "druid_coordinator",
}


@dataclass
class Restarts:
    """Runs the playbook for these servers. ``restart``: what to do for each; ``done``: those for which it was done."""

    druid: Druid
    ansible: Ansible
    servers: Iterable[str]
    restart: Callable[[str], None]
    done: list[str] = field(default_factory=list)

    def run(self, *options: str, status: int = 0, **variables: Any) -> Run:
        """Run the playbook in another thread: processes that end with this one are started by its main thread only."""
        assert threading.current_thread() is threading.main_thread()
        with HTTPServer(("127.0.0.1", 0), self._handler()) as manager, ThreadPoolExecutor(1) as pool:
            manager.timeout = 0.2
            task = {
                "name": "Restart the process",
                "ansible.builtin.uri": {
                    "url": f"http://127.0.0.1:{manager.server_port}/{{{{ inventory_hostname }}}}",
                    "timeout": 120,
                },
            }
            path = self.ansible.write("restart.json", [task])[1:]
            specified = self.ansible.write("variables.json", {"druid_vm_restart_tasks": path, **variables})
            inventory = self.ansible.write("inventory.yml", {"all": self._inventory()})[1:]
            arguments = ("--inventory", inventory, "--extra-vars", specified, *options)
            running = pool.submit(self.ansible.run, PLAYBOOK, *arguments, status=status, DRUID_URL=self.druid.url)
            while not running.done():
                manager.handle_request()
            return running.result()

    def _inventory(self) -> dict[str, Any]:
        groups: dict[str, dict[str, Any]] = {}
        for server in self.servers:
            port = int(self.druid.address(server).rpartition(":")[2])
            hosts = groups.setdefault(GROUPS[type_of(server)], {"hosts": {}})["hosts"]
            hosts[server] = {"druid_vm_ports": {type_of(server): port}}
        machine = {
            "ansible_connection": "local",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "druid_vm_host": "127.0.0.1",
        }
        return {"vars": machine, "children": groups}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        restarts = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server = self.path.removeprefix("/")
                restarts.restart(server)
                restarts.done.append(server)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_arguments: Any) -> None:
                """Log nothing."""

        return Handler
