# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How every module reaches Druid. The argument spec is module_utils/_operations/argspec.py: CONNECTION."""

from __future__ import annotations


class ModuleDocFragment:
    """What a module gets by ``extends_documentation_fragment: druidops.druid.connection``."""

    DOCUMENTATION = r"""
requirements:
  - Python library C(requests) 2.32.2 or newer, where the module runs
notes:
  - The module speaks HTTP with Druid from the host that it runs on, which usually is C(localhost).
  - A Router has to have its management proxy on (C(druid.router.managementProxy.enabled=true)); its default is off.
  - A Coordinator or Overlord that does not lead sends each request on to the leader, under the name that the leader
    gives itself (C(druid.host)). Credentials go to servers in O(url) and to those that these call their leader,
    nowhere else, and never from https to http.
  - Proxies are those of E(http_proxy), E(https_proxy) and E(no_proxy). Credentials in a C(.netrc) are not used.
options:
  url:
    description:
      - Where Druid is. A Router, a Coordinator or an Overlord, such as V(https://router.example.com:9088).
      - Several are tried in turn. The first that answers is used from then on.
      - Without it E(DRUID_URL) counts, several separated by commas. One of the two is needed.
    type: list
    elements: str
  username:
    description:
      - User name of HTTP basic authentication.
      - Without it E(DRUID_USERNAME) counts.
    type: str
  password:
    description:
      - Password of HTTP basic authentication.
      - Without it E(DRUID_PASSWORD) counts.
    type: str
  token:
    description:
      - A bearer token, in place of O(username) and O(password).
      - Without it E(DRUID_TOKEN) counts.
    type: str
  ca_path:
    description:
      - A PEM file (or a directory made by C(openssl rehash)) with the certificates of the CAs that are trusted.
      - Without it E(DRUID_CA_PATH) counts, then E(REQUESTS_CA_BUNDLE), then the CAs that C(requests) brings.
    type: path
    aliases: [ca_cert]
  client_cert:
    description:
      - A PEM file with the client certificate, and its key unless O(client_key) has it.
      - Without it E(DRUID_CLIENT_CERT) counts.
    type: path
  client_key:
    description:
      - A PEM file with the unencrypted key of O(client_cert).
      - Without it E(DRUID_CLIENT_KEY) counts.
    type: path
  validate_certs:
    description:
      - Whether the server's certificate has to be valid. With V(false) anybody on the way can read and change
        everything, the credentials included.
      - Without it E(DRUID_VALIDATE_CERTS) counts.
    type: bool
    default: true
  connect_timeout:
    description:
      - Seconds to wait for a connection.
      - Without it E(DRUID_CONNECT_TIMEOUT) counts.
    type: float
    default: 5.0
  read_timeout:
    description:
      - Seconds to wait for an answer, until its last byte. Druid may take 80 seconds to stop a supervisor.
      - Without it E(DRUID_READ_TIMEOUT) counts.
    type: float
    default: 120.0
  retry_timeout:
    description:
      - Seconds in which calls that may be repeated, such as all reads, are tried again when nobody is there or the
        answer is 502, 503 or 504. V(0) tries once.
      - Without it E(DRUID_RETRY_TIMEOUT) counts.
    type: float
    default: 30.0
"""
