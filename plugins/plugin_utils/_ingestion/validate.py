# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is wrong with an ingestion that the CRD's schema cannot see. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.module_utils._spec.datasource import datasource_of
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import SQL, SUPERVISORS, TYPES, Ingestion


def problems(ingestion: Ingestion) -> tuple[Finding, ...]:
    """Return a finding for each thing in the specification that cannot be carried out."""
    return tuple(Finding(reasons.INVALID_SPEC, f"spec.{text}") for text in _texts(ingestion))


def warnings(ingestion: Ingestion) -> tuple[str, ...]:
    """Return what the user should know, and what does no harm."""
    if not ingestion.is_stated_twice:
        return ()
    return ("spec.ingestion has both nativeSpec and spec: nativeSpec counts. Remove spec.",)


def _texts(ingestion: Ingestion) -> Iterator[str]:
    if (ingestion.cluster is None) == (ingestion.endpoint.get("url") is None):
        yield "druidCluster: name a Druid resource, or the address of a Druid in endpoint.url, and not both."
    if ingestion.type not in TYPES:
        yield f"ingestion.type ({ingestion.type!r}): has to be one of {', '.join(TYPES)}."
        return
    try:
        document = ingestion.document
    except ValueError as error:
        where = "ingestion.spec" if ingestion.spec["ingestion"].get("spec") else "ingestion.nativeSpec"
        yield f"{where}: the spec of the {_thing(ingestion)} has to be a mapping, or JSON of one: {error}."
        return
    yield from _of_document(ingestion, document)


def _of_document(ingestion: Ingestion, document: dict[str, object]) -> Iterator[str]:
    stated, expected = document.get("type"), SUPERVISORS.get(ingestion.type)
    if expected and stated not in (None, expected):
        yield f"ingestion.nativeSpec.type ({stated!r}): ingestion.type {ingestion.type} means {expected!r}."
    if ingestion.type == SQL and not isinstance(document.get("query"), str):
        yield "ingestion.nativeSpec.query: state the SQL statement (INSERT or REPLACE)."
    if (ingestion.compaction or ingestion.rules) and datasource_of(document) is None:
        yield "ingestion.nativeSpec: compaction and rules are about a datasource, and it names none (dataSource)."
    source = (ingestion.compaction or {}).get("dataSource")
    if source not in (None, datasource_of(document)):
        yield f"ingestion.compaction.dataSource ({source!r}): it is that of the spec. Leave it out."


def _thing(ingestion: Ingestion) -> str:
    return "supervisor" if ingestion.is_supervisor else "task"
