# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options that modules share. CONTRIBUTING.md describes the rules that they follow."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.common.parameters import env_fallback

# Documented in the doc fragment druidops.druid.connection.
CONNECTION: dict[str, dict[str, Any]] = {
    # Required, but checked later: Ansible's message for a missing option would not mention the environment variable.
    "url": {"type": "list", "elements": "str", "fallback": (env_fallback, ["DRUID_URL"])},
    "username": {"type": "str", "aliases": ["url_username"], "fallback": (env_fallback, ["DRUID_USERNAME"])},
    "password": {
        "type": "str",
        "no_log": True,
        "aliases": ["url_password"],
        "fallback": (env_fallback, ["DRUID_PASSWORD"]),
    },
    "token": {"type": "str", "no_log": True, "fallback": (env_fallback, ["DRUID_TOKEN"])},
    "ca_path": {"type": "path", "aliases": ["ca_cert"], "fallback": (env_fallback, ["DRUID_CA_PATH"])},
    "client_cert": {"type": "path", "fallback": (env_fallback, ["DRUID_CLIENT_CERT"])},
    "client_key": {"type": "path", "no_log": False, "fallback": (env_fallback, ["DRUID_CLIENT_KEY"])},
    "validate_certs": {"type": "bool", "default": True, "fallback": (env_fallback, ["DRUID_VALIDATE_CERTS"])},
    "connect_timeout": {"type": "float", "default": 5.0, "fallback": (env_fallback, ["DRUID_CONNECT_TIMEOUT"])},
    "read_timeout": {
        "type": "float",
        "default": 120.0,
        "aliases": ["timeout"],
        "fallback": (env_fallback, ["DRUID_READ_TIMEOUT"]),
    },
    "retry_timeout": {"type": "float", "default": 30.0, "fallback": (env_fallback, ["DRUID_RETRY_TIMEOUT"])},
}

# A document in Druid's own format, as structure or as text. It may contain secrets: no_log keeps it out of the system
# log. In results only the secrets are masked, by their names and locations.
DOCUMENT: dict[str, Any] = {"type": "raw", "no_log": True}

# Documented in the doc fragment druidops.druid.job.
JOB: dict[str, dict[str, Any]] = {
    "retry": {"type": "bool", "default": False},
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "float", "default": 3600.0},
}

# Documented in the doc fragment druidops.druid.unknown_fields.
UNKNOWN_FIELDS: dict[str, dict[str, Any]] = {
    "unknown_fields": {"type": "str", "choices": ["warn", "fail"], "default": "warn"}
}

# Documented in the doc fragment druidops.druid.audit.
AUDIT: dict[str, dict[str, Any]] = {"author": {"type": "str"}, "comment": {"type": "str"}}
