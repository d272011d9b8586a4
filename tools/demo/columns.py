# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print the output of `kubectl get druids,pods --namespace NAMESPACE` without kubectl: columns.py NAMESPACE.

The cluster is that of KUBECONFIG and K8S_AUTH_CONTEXT.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import urllib3
from kubernetes import client, config
from kubernetes.client.rest import RESTClientObject

# Request lists as tables, as kubectl does: the API server defines the columns.
_AS_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
# The prefix that kubectl adds to a name, by the path of its kind.
_KINDS = {
    "/apis/druid.apache.org/v1alpha1/namespaces/{}/druids": "druid.druid.apache.org/",
    "/api/v1/namespaces/{}/pods": "pod/",
}

Table = dict[str, Any]


class _RefusedError(RuntimeError):
    """The API server's message."""


def main() -> None:
    """Print a table for each kind that has objects; exit with one line if the API server rejects the request."""
    configuration = client.Configuration()
    try:
        config.load_kube_config(context=os.environ.get("K8S_AUTH_CONTEXT"), client_configuration=configuration)
        tables = [(_table(configuration, path.format(sys.argv[1])), prefix) for path, prefix in _KINDS.items()]
    except (config.ConfigException, urllib3.exceptions.HTTPError, ValueError, _RefusedError) as error:
        sys.exit(f"Cannot read the resources: {error}")
    print("\n\n".join("\n".join(_lines(table, prefix)) for table, prefix in tables if table.get("rows")))


def _table(configuration: client.Configuration, path: str) -> Table:
    settings: Any = configuration.auth_settings().values()
    headers = {each["key"]: each["value"] for each in settings if each["in"] == "header" and each["value"]}
    pool = RESTClientObject(configuration).pool_manager
    answer = pool.request("GET", configuration.host.rstrip("/") + path, headers={**headers, "Accept": _AS_TABLE})
    found: Table = json.loads(answer.data)
    if answer.status != 200:
        raise _RefusedError(found.get("message"))
    return found


def _lines(table: Table, prefix: str) -> Iterator[str]:
    shown = [index for index, column in enumerate(table["columnDefinitions"]) if column["priority"] == 0]
    rows = [[table["columnDefinitions"][index]["name"].upper() for index in shown]]
    for row in table["rows"]:
        name, *others = (_text(row["cells"][index]) for index in shown)
        rows.append([prefix + name, *others])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


if __name__ == "__main__":
    main()
