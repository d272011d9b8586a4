# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A DruidIngestion resource: its names and annotations, its parsed spec, and the validation of it. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import MAX_VALUE_LENGTH, truncate
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import TOO_DEEP, is_too_deep
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import (
    DruidObject,
    plain_secrets,
    problems_of_target,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import mapping

KIND = "DruidIngestion"

# The Go operator's, so that either can take over from the other.
FINALIZER = "druidingestion.datainfra.io/finalizer"
# A new value requests one more attempt of a failed batch.
RETRY_ANNOTATION = "druid.apache.org/retry"

RECORD_SUFFIX = "-ingestion"
_MOST_CHARACTERS = 253
_DIGITS = 10

AUTOCOMPACT = "autocompact"
# The type in the resource, and the type of the spec in Druid's API.
SUPERVISORS: Mapping[str, str] = {
    "kafka": "kafka",
    "kinesis": "kinesis",
    "rabbit": "rabbit",
    AUTOCOMPACT: "autocompact",
    "scheduled-batch": "scheduled_batch",
}
NATIVE_BATCH, SQL = "native-batch", "sql"
TYPES = (*SUPERVISORS, NATIVE_BATCH, SQL)


def record_name(ingestion: str) -> str:
    """Return the name of the ConfigMap with the last applied spec."""
    if len(ingestion + RECORD_SUFFIX) <= _MOST_CHARACTERS:
        return ingestion + RECORD_SUFFIX
    digest = hashlib.sha256(ingestion.encode()).hexdigest()[:_DIGITS]
    kept = _MOST_CHARACTERS - len(RECORD_SUFFIX) - _DIGITS - 1
    return f"{ingestion[:kept]}-{digest}{RECORD_SUFFIX}"


def record_labels() -> dict[str, str]:
    """Return the labels of that ConfigMap."""
    return {"app.kubernetes.io/name": "druid-ingestion", "app.kubernetes.io/managed-by": "druidops"}


class Ingestion(DruidObject):
    """One DruidIngestion; `uid` is None without a resource. Its spec has the CRD's shape.

    It may have been stored under an older schema: a part that is not a mapping counts as not set.
    """

    @property
    def type(self) -> str:
        """kafka, native-batch ..."""
        return str(self._ingestion.get("type", ""))

    @property
    def is_supervisor(self) -> bool:
        return self.type in SUPERVISORS

    @cached_property
    def document(self) -> dict[str, Any]:
        """The spec of the supervisor or the task; ValueError if it is not a mapping, or JSON of one."""
        native = self._ingestion.get("nativeSpec")
        document = native or _loaded(self._ingestion.get("spec") or "")
        if not isinstance(document, dict):
            raise ValueError(f"the type is {_type_of(document)}")
        if is_too_deep(document):
            raise ValueError(TOO_DEEP)
        return document

    @property
    def is_specified_twice(self) -> bool:
        """True when both the JSON string and the mapping are set; the mapping takes precedence."""
        return bool(self._ingestion.get("nativeSpec") and self._ingestion.get("spec"))

    @property
    def compaction(self) -> dict[str, Any] | None:
        """The specified configuration; ``{}`` means Druid's defaults."""
        compaction: dict[str, Any] | None = self._ingestion.get("compaction")
        return compaction

    @property
    def rules(self) -> list[dict[str, Any]] | None:
        return self._ingestion.get("rules") or None

    @property
    def suspend(self) -> bool | None:
        """Whether the supervisor should be suspended; None leaves it unchanged."""
        return self.spec.get("suspend")

    @property
    def resets_on_resume(self) -> bool:
        return bool(self.spec.get("resumePolicy") == "Reset")

    @property
    def reports_drift_only(self) -> bool:
        return bool(self.spec.get("driftPolicy") == "Report")

    @property
    def retries(self) -> int:
        """How often a failed batch is submitted again."""
        return int(self._ingestion.get("retries") or 0)

    @property
    def retry(self) -> str:
        """The value of the annotation that requests one more attempt."""
        return self.annotations.get(RETRY_ANNOTATION, "")

    @property
    def _ingestion(self) -> Mapping[str, Any]:
        return mapping(self.spec.get("ingestion"))

    @property
    def specified(self) -> dict[str, Any]:
        """Everything to apply in Druid, as the record stores it."""
        specified = {
            "type": self.type,
            "spec": self.document,
            "suspend": self.suspend,
            "compaction": self.compaction,
            "rules": self.rules,
        }
        return {name: value for name, value in specified.items() if value is not None}


def was_suspended(specified: Mapping[str, Any]) -> bool:
    """Return whether it was specified as suspended, in the resource or in the supervisor's spec."""
    described = specified.get("suspend")
    return bool((specified.get("spec") or {}).get("suspended") if described is None else described)


def _type_of(value: Any) -> str:
    """Return the name of a type for a message; the value may have secrets."""
    return "null" if value is None else type(value).__name__


def _loaded(text: Any) -> Any:
    if not isinstance(text, str):
        raise ValueError(f"the type is {_type_of(text)}")
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def _refuse(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")


def problems(ingestion: Ingestion) -> tuple[Finding, ...]:
    """Return a finding for each invalid value in the spec."""
    return tuple(Finding(reasons.INVALID_SPEC, f"spec.{text}") for text in _texts(ingestion))


def warnings(ingestion: Ingestion) -> tuple[str, ...]:
    """Return warnings for the user about a valid spec."""
    return tuple(_warnings(ingestion))


def _warnings(ingestion: Ingestion) -> Iterator[str]:
    if ingestion.is_specified_twice:
        yield "spec.ingestion has both nativeSpec and spec: nativeSpec takes precedence. Remove spec."
    if secrets := plain_secrets(ingestion.document):
        yield (
            f"spec.{_place(ingestion)} has secrets in plain text ({', '.join(secrets)}). All users who can read the "
            "resource, the ConfigMap with the applied spec, or the spec in Druid can read them. Let Druid read them "
            "from its environment (a password provider of type environment, or druid.dynamic.config.provider)."
        )


def _texts(ingestion: Ingestion) -> Iterator[str]:
    yield from problems_of_target(ingestion)
    if ingestion.type not in TYPES:
        yield f"ingestion.type ({ingestion.type!r}): must be one of {', '.join(TYPES)}."
        return
    try:
        document = ingestion.document
    except ValueError as error:
        yield f"{_place(ingestion)}: the spec of the {_object(ingestion)} must be a mapping, or JSON of one: {error}."
        return
    yield from _of_document(ingestion, document)


def _of_document(ingestion: Ingestion, document: dict[str, object]) -> Iterator[str]:
    specified, expected = document.get("type"), SUPERVISORS.get(ingestion.type)
    if expected and specified not in (None, expected):
        yield f"ingestion.nativeSpec.type ({specified!r}): must be {expected!r} for ingestion.type {ingestion.type}."
    if ingestion.type == SQL:
        yield from _of_query(document)
    if ingestion.type == NATIVE_BATCH:
        yield from _must_be_string("id", document.get("id"))
    if (ingestion.compaction or ingestion.rules) and datasource_of(document) is None:
        yield "ingestion.nativeSpec: compaction and rules need a datasource. Set dataSource in the spec."
    if ingestion.type == AUTOCOMPACT and ingestion.compaction is not None:
        yield "ingestion.compaction: a compaction supervisor has the compaction in its spec. Remove it."
    source = (ingestion.compaction or {}).get("dataSource")
    if source not in (None, datasource_of(document)):
        yield f"ingestion.compaction.dataSource ({source!r}): must be the datasource of the spec. Remove it."


def _of_query(document: dict[str, Any]) -> Iterator[str]:
    if not isinstance(document.get("query"), str):
        yield "ingestion.nativeSpec.query: must be a SQL statement (INSERT or REPLACE)."
    context = document.get("context")
    if isinstance(context, Mapping):
        yield from _must_be_string("context.sqlQueryId", context.get("sqlQueryId"))
    elif context is not None:
        # the value is not shown, since it may have secrets
        kind = type(context).__name__
        yield f"ingestion.nativeSpec.context: must be a mapping, not {kind}. Remove it if it is not needed."


def _must_be_string(field: str, identifier: Any) -> Iterator[str]:
    if identifier is not None and not isinstance(identifier, str):
        shown = truncate(repr(masked(identifier)), MAX_VALUE_LENGTH)
        yield (
            f"ingestion.nativeSpec.{field} ({shown}): an id must be a string. Quote it, or remove it to generate a "
            "unique one per spec."
        )


def _place(ingestion: Ingestion) -> str:
    """Return the field that has the spec."""
    specified = ingestion.spec["ingestion"]
    return "ingestion.spec" if specified.get("spec") and not specified.get("nativeSpec") else "ingestion.nativeSpec"


def _object(ingestion: Ingestion) -> str:
    return "supervisor" if ingestion.is_supervisor else "task"
