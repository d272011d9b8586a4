# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values of the chart, and the text of the configuration among them, whose encoding is specified. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import secret_digest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import mapping
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import properties


class InvalidConfig(ValueError):
    """The text cannot be decoded. The message does not quote it."""


def decoded(text: str, is_base64: bool) -> str:
    """Return the configuration in a text; InvalidConfig if it is not Base64 of UTF-8."""
    if not is_base64:
        return text
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise InvalidConfig("is not Base64 of UTF-8 text. Correct it, or set configEncoding to Plain.") from None


def text_of(holder: Mapping[str, Any], key: str) -> str | None:
    """Return the text in a key of a ConfigMap or Secret, None if there is none; InvalidConfig if it is not UTF-8."""
    found = (holder.get("data") or {}).get(key)
    if found is None or holder["kind"] == "ConfigMap":
        return None if found is None else str(found)
    try:
        return base64.b64decode(found).decode("utf-8")
    except ValueError:
        raise InvalidConfig(f"key {key} is not UTF-8 text.") from None


PORT_PROPERTY = "druid.emitter.prometheus.port"
_PORT = re.compile(r"[1-9][0-9]{0,4}")


def values(
    collector: Collector, config: str | None, druid: Manifest | None, environment: Sequence[Manifest | None] = ()
) -> dict[str, Any]:
    """Return the values: those of the resource, and for the default chart what its other fields set."""
    specified = dict(collector.values)
    if collector.chart is not None:
        return specified
    if collector.version:
        specified["image"] = {**mapping(specified.get("image")), "tag": collector.version}
    if config is not None:
        specified["config"] = config
    if environment:
        # A Secret that changes restarts the pods.
        specified["environmentChecksum"] = secret_digest(environment)
    if collector.cluster:
        specified["druid"] = {
            **({} if druid is None else _port(druid)),
            **mapping(specified.get("druid")),
            "name": collector.cluster,
            "namespace": collector.namespace,
        }
    return specified


def _port(druid: Manifest) -> dict[str, int]:
    """Return the port of the Prometheus emitter, if the properties of all groups specify it."""
    specified = mapping(druid.get("spec")).get("common.runtime.properties")
    port = properties(specified).get(PORT_PROPERTY, "") if isinstance(specified, str) else ""
    # Another number is for Druid to refuse.
    return {"metricsPort": int(port)} if _PORT.fullmatch(port) else {}
