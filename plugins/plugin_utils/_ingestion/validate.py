# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is wrong with an ingestion that the CRD's schema cannot see. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import differing_fields
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import MAX_VALUE_LENGTH, truncate
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    NATIVE_BATCH,
    SQL,
    SUPERVISORS,
    TYPES,
    Ingestion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def problems(ingestion: Ingestion) -> tuple[Finding, ...]:
    """Return a finding for each thing in the specification that cannot be carried out."""
    return tuple(Finding(reasons.INVALID_SPEC, f"spec.{text}") for text in _texts(ingestion))


def warnings(ingestion: Ingestion) -> tuple[str, ...]:
    """Return what the user should know, and what does no harm."""
    return tuple(_warnings(ingestion))


def _warnings(ingestion: Ingestion) -> Iterator[str]:
    if ingestion.is_specified_twice:
        yield "spec.ingestion has both nativeSpec and spec: nativeSpec counts. Remove spec."
    document = _without_environment(ingestion.document)
    secrets = sorted(differing_fields(document, masked(document)))
    if secrets:
        yield (
            f"spec.{_place(ingestion)}: secrets are there in the clear ({', '.join(secrets)}), for all who may read "
            "the resource, the ConfigMap with what was applied, or the spec in Druid. Have Druid take them from its "
            "environment (a password provider of type environment, or druid.dynamic.config.provider)."
        )


def _without_environment(value: Any) -> Any:
    """Return a specification without what Druid takes from its environment: of that there are only names."""
    if isinstance(value, Mapping):
        is_elsewhere = value.get("type") == "environment"
        return {} if is_elsewhere else {name: _without_environment(each) for name, each in value.items()}
    return [_without_environment(each) for each in value] if isinstance(value, list) else value


def _texts(ingestion: Ingestion) -> Iterator[str]:
    yield from _of_place(ingestion)
    if ingestion.type not in TYPES:
        yield f"ingestion.type ({ingestion.type!r}): has to be one of {', '.join(TYPES)}."
        return
    try:
        document = ingestion.document
    except ValueError as error:
        yield f"{_place(ingestion)}: the spec of the {_thing(ingestion)} has to be a mapping, or JSON of one: {error}."
        return
    yield from _of_document(ingestion, document)


def _of_place(ingestion: Ingestion) -> Iterator[str]:
    has_cluster, has_url = ingestion.cluster is not None, ingestion.endpoint.get("url") is not None
    if has_cluster and has_url:
        yield "druidCluster: endpoint.url is stated, too. Leave one of the two out."
    elif not (has_cluster or has_url):
        yield "druidCluster: neither it nor endpoint.url is stated. Name a Druid resource, or the address of a Druid."


def _of_document(ingestion: Ingestion, document: dict[str, object]) -> Iterator[str]:
    specified, expected = document.get("type"), SUPERVISORS.get(ingestion.type)
    if expected and specified not in (None, expected):
        yield f"ingestion.nativeSpec.type ({specified!r}): ingestion.type {ingestion.type} means {expected!r}."
    if ingestion.type == SQL:
        yield from _of_query(document)
    if ingestion.type == NATIVE_BATCH:
        yield from _no_text("id", document.get("id"))
    if (ingestion.compaction or ingestion.rules) and datasource_of(document) is None:
        yield "ingestion.nativeSpec: compaction and rules are about a datasource, and it names none (dataSource)."
    source = (ingestion.compaction or {}).get("dataSource")
    if source not in (None, datasource_of(document)):
        yield f"ingestion.compaction.dataSource ({source!r}): it is that of the spec. Leave it out."


def _of_query(document: dict[str, Any]) -> Iterator[str]:
    if not isinstance(document.get("query"), str):
        yield "ingestion.nativeSpec.query: state the SQL statement (INSERT or REPLACE)."
    context = document.get("context")
    if isinstance(context, Mapping):
        yield from _no_text("context.sqlQueryId", context.get("sqlQueryId"))
    elif context is not None:
        # it is not shown: nothing tells what in it is a secret
        kind = type(context).__name__
        yield f"ingestion.nativeSpec.context: it has to be a mapping, and is {kind}. Leave it out if there is none."


def _no_text(field: str, identifier: Any) -> Iterator[str]:
    if identifier is not None and not isinstance(identifier, str):
        shown = truncate(repr(masked(identifier)), MAX_VALUE_LENGTH)
        yield (
            f"ingestion.nativeSpec.{field} ({shown}): an id has to be a text. Put it in quotes, or leave it out: then "
            "each spec has one of its own."
        )


def _place(ingestion: Ingestion) -> str:
    """Return the field that the specification is in."""
    specified = ingestion.spec["ingestion"]
    return "ingestion.spec" if specified.get("spec") and not specified.get("nativeSpec") else "ingestion.nativeSpec"


def _thing(ingestion: Ingestion) -> str:
    return "supervisor" if ingestion.is_supervisor else "task"
