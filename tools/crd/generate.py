# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Generate the CRDs, the schemas for definitions by variables, the structure of the written kinds, and the reference.

The embedded types come from the OpenAPI v3 documents of a kube-apiserver, the kinds' own fields from fields/.
openapi.json caches the part of these documents that is used; --openapi reads them again, and updates it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from .definition import as_yaml, definition
from .embedded import Embedded
from .openapi import CACHED, OpenApiError, load
from .openapi import Schemas as OpenApi
from .reference import reference
from .structure import structure
from .table import Schemas, Table, TableError, without

_FIELDS = Path(__file__).parent / "fields"
_ROOT = Path(__file__).parents[2]
# By the name of a table: the schema of the spec, for resources that are defined by variables.
SCHEMAS = {
    "druid": "plugins/plugin_utils/_cluster/schema.json",
    "druid_ingestion": "plugins/plugin_utils/_ingestion/schema.json",
    "collector": "plugins/plugin_utils/_collector/schema.json",
    # those with a base describe an object in Druid
    **{
        file.stem: f"plugins/plugin_utils/_druid_object/{file.stem.removeprefix('druid_')}.json"
        for file in sorted(_FIELDS.glob("druid_*.yml"))
        if "base" in yaml.safe_load(file.read_text())
    },
}
_CACHED = str(CACHED.relative_to(_ROOT))
_STRUCTURE = "plugins/plugin_utils/_kubernetes/structure.json"


def main() -> int:
    """Write the files, or with --check report which of them differ. Return the exit status."""
    arguments = _parser().parse_args()
    try:
        texts = generated(load(arguments.openapi))
    except (OpenApiError, TableError) as error:
        print(error, file=sys.stderr)
        return 1
    if arguments.check:
        return _check(texts, arguments.root)
    for name, text in texts.items():
        path = arguments.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


def generated(openapi: OpenApi) -> dict[str, str]:
    """The content of every file by its path in the project."""
    embedded = Embedded(openapi, yaml.safe_load((_FIELDS / "kubernetes.yml").read_text()))
    texts = {_STRUCTURE: json.dumps(structure(openapi), indent=1, sort_keys=True) + "\n"}
    for name, schema in SCHEMAS.items():
        table = Table.load(_FIELDS / f"{name}.yml", _FIELDS / "access.yml")
        schemas = Schemas(table, embedded)
        texts[f"config/crd/{table['plural']}.yaml"] = as_yaml(definition(table, schemas))
        texts[f"docs/reference/{name}.md"] = reference(table)
        texts[schema] = _compact(without(schemas.type(table["spec"]), "description", "x-kubernetes-validations"))
    return {**texts, _CACHED: openapi.used}


def _compact(schema: dict[str, Any]) -> str:
    return json.dumps(schema, separators=(",", ":"), sort_keys=True) + "\n"


def _check(texts: dict[str, str], root: Path) -> int:
    differing = [name for name, text in texts.items() if not _holds(root / name, text)]
    for name in differing:
        print(f"{name} differs from the output of tools.crd.generate; run `make crds`", file=sys.stderr)
    return 1 if differing else 0


def _holds(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--openapi", type=Path, default=CACHED, help="a directory of OpenAPI v3 documents (*.json), or a kubeconfig"
    )
    parser.add_argument("--root", type=Path, default=_ROOT, help="root directory of the files (default: this project)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file differs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
