# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Validation of an ingestion beyond the CRD's schema. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import differing_fields
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import MAX_VALUE_LENGTH, truncate
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    AUTOCOMPACT,
    NATIVE_BATCH,
    SQL,
    SUPERVISORS,
    TYPES,
    Ingestion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding


def problems(ingestion: Ingestion) -> tuple[Finding, ...]:
    """Return a finding for each invalid value in the spec."""
    return tuple(Finding(reasons.INVALID_SPEC, f"spec.{text}") for text in _texts(ingestion))


def warnings(ingestion: Ingestion) -> tuple[str, ...]:
    """Return warnings for the user about a valid spec."""
    return tuple(_warnings(ingestion))


def _warnings(ingestion: Ingestion) -> Iterator[str]:
    if ingestion.is_specified_twice:
        yield "spec.ingestion has both nativeSpec and spec: nativeSpec takes precedence. Remove spec."
    document = _without_environment(ingestion.document)
    secrets = sorted(differing_fields(document, masked(document)))
    if secrets:
        yield (
            f"spec.{_place(ingestion)} has secrets in plain text ({', '.join(secrets)}). All users who can read the "
            "resource, the ConfigMap with the applied spec, or the spec in Druid can read them. Let Druid read them "
            "from its environment (a password provider of type environment, or druid.dynamic.config.provider)."
        )


def _without_environment(value: Any) -> Any:
    """Return a spec without the values that Druid reads from its environment, since these are only names."""
    if isinstance(value, Mapping):
        is_elsewhere = value.get("type") == "environment"
        return {} if is_elsewhere else {name: _without_environment(each) for name, each in value.items()}
    return [_without_environment(each) for each in value] if isinstance(value, list) else value


def _texts(ingestion: Ingestion) -> Iterator[str]:
    yield from _of_place(ingestion)
    if ingestion.type not in TYPES:
        yield f"ingestion.type ({ingestion.type!r}): must be one of {', '.join(TYPES)}."
        return
    try:
        document = ingestion.document
    except ValueError as error:
        yield f"{_place(ingestion)}: the spec of the {_object(ingestion)} must be a mapping, or JSON of one: {error}."
        return
    yield from _of_document(ingestion, document)


def _of_place(ingestion: Ingestion) -> Iterator[str]:
    has_cluster, has_url = ingestion.cluster is not None, ingestion.endpoint.get("url") is not None
    if has_cluster and has_url:
        yield "druidCluster: endpoint.url is also set. Remove one of them."
    elif not (has_cluster or has_url):
        yield "druidCluster: set druidCluster to a Druid resource, or endpoint.url to the address of a Druid."


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
