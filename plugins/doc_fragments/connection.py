# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options for the connection to Druid. The argument spec is module_utils/_operations/argspec.py: CONNECTION."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment ``druidops.druid.connection``."""

    DOCUMENTATION = r"""
requirements:
  - Python library C(requests) 2.32.2 or newer on the host that runs the module
notes:
  - The module connects to Druid from the host that it runs on, which is usually C(localhost).
  - On a Router, the management proxy must be enabled (C(druid.router.managementProxy.enabled=true)). It is disabled by
    default.
  - A Coordinator or Overlord that is not the leader redirects each request to the host name of the leader
    (C(druid.host)). Credentials are sent only to the servers in O(url) and to the leaders that these report, and never
    from https to http.
  - The module uses the proxies in E(http_proxy), E(https_proxy) and E(no_proxy). It does not use credentials in a
    C(.netrc) file.
options:
  url:
    description:
      - URL of a Router, a Coordinator or an Overlord, such as V(https://router.example.com:9088).
      - Several servers are tried in order. The first one that responds is used from then on.
      - The default is E(DRUID_URL), which may contain several URLs separated by commas. One of the two is required.
    type: list
    elements: str
  username:
    description:
      - User name for HTTP basic authentication.
      - The default is E(DRUID_USERNAME).
    type: str
    aliases: [url_username]
  password:
    description:
      - Password for HTTP basic authentication.
      - The default is E(DRUID_PASSWORD).
    type: str
    aliases: [url_password]
  token:
    description:
      - A bearer token, instead of O(username) and O(password).
      - The default is E(DRUID_TOKEN).
    type: str
  ca_path:
    description:
      - A PEM file (or a directory created by C(openssl rehash)) with the certificates of the trusted CAs.
      - The default is E(DRUID_CA_PATH), then E(REQUESTS_CA_BUNDLE), then the CA bundle of C(requests).
    type: path
    aliases: [ca_cert]
  client_cert:
    description:
      - A PEM file with the client certificate, and with its key unless O(client_key) is set.
      - The default is E(DRUID_CLIENT_CERT).
    type: path
  client_key:
    description:
      - A PEM file with the unencrypted key of O(client_cert).
      - The default is E(DRUID_CLIENT_KEY).
    type: path
  validate_certs:
    description:
      - Whether to verify the server's certificate. With V(false), anyone who can intercept the connection can read and
        change all data, including the credentials.
      - If it is not set, E(DRUID_VALIDATE_CERTS) is used.
    type: bool
    default: true
  connect_timeout:
    description:
      - Timeout for establishing a connection, in seconds.
      - If it is not set, E(DRUID_CONNECT_TIMEOUT) is used.
    type: float
    default: 5.0
  read_timeout:
    description:
      - Timeout for a complete response, in seconds. Druid may take 80 seconds to stop a supervisor.
      - If it is not set, E(DRUID_READ_TIMEOUT) is used.
    type: float
    default: 120.0
    aliases: [timeout]
  retry_timeout:
    description:
      - How long idempotent requests, such as all reads, are retried if the server is unreachable or returns 502, 503 or
        504, in seconds. V(0) disables retries.
      - If it is not set, E(DRUID_RETRY_TIMEOUT) is used.
    type: float
    default: 30.0
"""
