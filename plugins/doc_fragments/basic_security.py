# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of users, roles and group mappings. The argument spec is module_utils/_operations/security.py: STORES."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment ``druidops.druid.basic_security`` and its parts."""

    DOCUMENTATION = r"""
notes:
  - Requires the extension C(druid-basic-security) in Druid. Its API is that of the Coordinator, which a Router with the
    management proxy enabled passes on.
options:
  authorizer:
    description:
      - The name of the authorizer, as in C(druid.auth.authorizers).
      - The default is the only authorizer of basic security that Druid has. If it has several, the option is required.
    type: str
"""

    # druidops.druid.basic_security.authenticator: for users.
    AUTHENTICATOR = r"""
options:
  authenticator:
    description:
      - The name of the authenticator, as in C(druid.auth.authenticatorChain).
      - The default is the only authenticator of basic security that Druid has. If it has several, the option is
        required.
      - An empty string leaves authenticators alone, if the users are in a directory (LDAP), and only their roles in
        Druid. Likewise, an empty string as O(authorizer) leaves authorizers alone.
    type: str
"""

    # druidops.druid.basic_security.internal_user: for users and roles.
    INTERNAL_USER = r"""
options:
  internal_user:
    description:
      - The user as which Druid's servers log in to one another (C(druid.escalator.internalClientUsername)). It is
        protected like the user as which the module logs in.
    type: str
    default: druid_system
"""

    # druidops.druid.basic_security.managed: for modules that make changes.
    MANAGED = r"""
options:
  initial_password:
    description:
      - The password that O(username) has on a fresh cluster (C(initialAdminPassword)), or had so far. It is used if
        O(username) may manage users with it, and not with O(password), so that the same playbook sets up a fresh
        cluster, also in check mode, and changes nothing later.
    type: str
  allow_lock_out:
    description:
      - Make a change that may lock out the user as which the module logs in, although that is unknown, or Druid's
        servers, with a warning. By default it is refused.
      - It is unknown if permissions to manage users are removed, and O(authorizer) does not have them in roles of
        that user itself, because it has them by a group of a directory, or logs in with O(token) or a certificate.
      - What certainly locks out one of them is always refused.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    details: Sends only GET requests. What earlier tasks would change is not known. A role that they would create causes
      a warning.
  diff_mode:
    support: full
  idempotent:
    support: full
    details: What is as specified is not sent.
"""
