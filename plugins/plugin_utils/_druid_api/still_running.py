# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is known of a module on Druid's API while it is running. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo


def still_running(arguments: Mapping[str, Any], seconds: int) -> str:
    """Return what the module may be waiting for. ``arguments``: those of the task, the only thing that is known."""
    url = arguments.get("url")
    servers = ", ".join(map(str, url)) if isinstance(url, list) else str(url or "the server in DRUID_URL")
    waits = ", and for the requested state (wait_timeout)" if arguments.get("wait") else ""
    return (
        f"no result after {seconds} s. It sends requests to {without_userinfo(servers)}, tries again for a limited "
        f"time if there is no connection (retry_timeout), and waits for each response (read_timeout){waits}."
    )
