# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is in the way when Druid does not do what it is asked for, as a finding. Pure."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.module_utils._errors import (
    BadAnswer,
    BadInput,
    DruidError,
    Forbidden,
    ServerError,
    Unauthorized,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils import _reasons as reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding

_REASONS: tuple[tuple[type[DruidError], str], ...] = (
    (BadInput, reasons.INVALID_SPEC),
    (Unreachable, reasons.DRUID_UNREACHABLE),
    (BadAnswer, reasons.DRUID_UNREACHABLE),
    (Unauthorized, reasons.UNAUTHORIZED),
    (Forbidden, reasons.UNAUTHORIZED),
    (ServerError, reasons.DRUID_UNREACHABLE),
)
_CREDENTIALS = (
    "The user and its password are those of the Secret in spec.auth.secretRef; grant it what is missing in Druid, or "
    "name another one."
)


def finding(error: DruidError) -> Finding:
    """Return the reason by the kind of the error, in its own words."""
    reason = next((reason for kind, reason in _REASONS if isinstance(error, kind)), reasons.REFUSED_BY_DRUID)
    text = f"{error} {_CREDENTIALS}" if reason == reasons.UNAUTHORIZED else str(error)
    return Finding(reason, text)
