# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text of a resource is copied to the objects byte for byte, and is never evaluated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible


def texts(marker: Path) -> list[str]:
    """Return strings with a meaning for a template, a shell, a formatter, or a parser; some would create the marker."""
    touch = f"touch {marker}"
    return [
        "{{ 1+1 }}",
        f"{{{{ lookup('pipe', '{touch}') }}}}",
        f"{{{{ lookup('ansible.builtin.pipe', \"{touch}\") }}}}{{# comment #}}",
        "{% raw %}",
        "{% endraw %}",
        "{{ undefined_name }}",
        "}} {{",
        "%s %(name)s %d {} {0} {name}",
        "__ansible_unsafe",
        "__ansible_vault",
        '{"__ansible_unsafe": "x"}',
        "$ANSIBLE_VAULT;1.1;AES256\n61616161",
        "!unsafe x",
        "!vault |",
        f"$({touch})",
        f"`{touch}`",
        f"; {touch} #",
        f"| {touch} && {touch}",
        "$HOME ${HOME} $(id) ~",
        "a\tb\rc\x01\x08\x0b\x0c\x1b[31m\x7f",
        "\x80\x85\x9f\xa0\xad",
        "\u2028\u2029\ufeff\u200b\u202e",
        "\ue000\ufffd",
        "\U0001f600\U0001f468\u200d\U0001f469 Zürich 東京",
        "'",
        '"',
        "\\",
        "\\n\\u0041\\",
        "'''\"\"\"",
        "0123",
        "0x1F",
        "1e3",
        "1_000",
        "12:30:45",
        "2026-11-21",
        "yes",
        "null",
        "~",
        "",
        " ",
        "  leading and trailing  ",
        "- a: [b, {c: d}",
        "# no comment",
        "&anchor *alias <<: >- |",
        "---\n...\n",
        "line\n\n  indented\n\n\n",
        "<a/>&amp;]]>",
        "x" * 20_000,
    ]


KEYS = (
    "_ansible_x",
    "__ansible_type",
    "__ansible_unsafe",
    "__ansible_vault",
    "_ansible_no_log",
    "invocation",
    "yes",
    "0123",
)


def resource(marker: Path) -> Manifest:
    """Return a resource that has each string in each field that can contain it."""
    every = texts(marker)
    document = all_kinds_cluster.resource(
        extraCommonConfig=[{"name": "extra"}],
        env=[{"name": f"TEXT_{index}", "value": text} for index, text in enumerate(every)]
        + [{"name": name, "value": name} for name in KEYS if name.isidentifier()],
        podAnnotations={f"text-{index}": text for index, text in enumerate(every)},
        workloadAnnotations={f"text-{index}": text for index, text in enumerate(every)},
    )
    document["spec"]["common.runtime.properties"] = properties(every)
    document["spec"]["nodes"]["data"]["runtime.properties"] = properties(every)
    document["spec"]["nodes"]["data"]["dynamicConfig"] = {
        **dict.fromkeys(KEYS, "text"),
        "nested": {name: {name: every} for name in KEYS},
    }
    document["metadata"]["annotations"] = {f"text-{index}": text for index, text in enumerate(every)}
    return document


def properties(every: list[str]) -> str:
    return "".join(f"text.{index}={text}\n" for index, text in enumerate(every))


def in_cluster(live: NamespaceClient, _ansible: Ansible, document: Manifest) -> dict[str, Any]:
    live.create(document)
    return {"name": "wiki"}


def as_json(_live: NamespaceClient, ansible: Ansible, document: Manifest) -> dict[str, Any]:
    return {"resource": ansible.write("wiki.json", document)[1:]}


def as_yaml(_live: NamespaceClient, ansible: Ansible, document: Manifest) -> dict[str, Any]:
    # quoted: a string that this library writes unquoted may be a number for kubectl, and so for us
    return {"resource": ansible.write("wiki.yml", yaml.safe_dump(document, default_style='"'))[1:]}


# As a user writes it: a tool would quote all of these.
BY_HAND = """
apiVersion: druid.apache.org/v1alpha1
kind: Druid
metadata:
  name: wiki
spec:
  image: apache/druid:33.0.0
  common.runtime.properties: ""
  podAnnotations:
    time: 12:30:45
    short: 1:30
    equals: =
    day: 2026-01-01
    address: ::1
    0x10: hexadecimal key
  nodes:
    brokers:
      nodeType: broker
      druid.port: 0o17622
      replicas: 0
      nodeConfigMountPath: /opt/druid/conf
      runtime.properties: |
        a=b
      podDisruptionBudgetSpec: {maxUnavailable: 1e0}
      env:
        - {name: TIME, value: 12:30:45}
"""


def test_handwritten_yaml(each_ansible: Ansible, live: NamespaceClient) -> None:
    each_ansible.cluster(resource=each_ansible.write("wiki.yml", BY_HAND)[1:])
    spec = live.get("Druid", "wiki")["spec"]
    assert spec["podAnnotations"] == {
        "time": "12:30:45",
        "short": "1:30",
        "equals": "=",
        "day": "2026-01-01",
        "address": "::1",
        "16": "hexadecimal key",
    }
    assert spec["nodes"]["brokers"]["druid.port"] == 8082
    assert spec["nodes"]["brokers"]["env"] == [{"name": "TIME", "value": "12:30:45"}]
    assert live.get("PodDisruptionBudget", "druid-wiki-brokers")["spec"]["maxUnavailable"] == 1


SOURCES: dict[str, Callable[[NamespaceClient, Ansible, Manifest], dict[str, Any]]] = {
    "in the cluster": in_cluster,
    "a JSON file": as_json,
    "a YAML file": as_yaml,
}


@pytest.mark.parametrize("source", SOURCES)
def test_text_is_copied_verbatim_and_never_evaluated(
    each_ansible: Ansible, live: NamespaceClient, tmp_path: Path, source: str
) -> None:
    marker = tmp_path / "executed"
    document = resource(marker)
    live.create(extra_configuration(marker))
    provided = SOURCES[source](live, each_ansible, document)
    each_ansible.cluster(provided.pop("name", None), "--diff", "-vvv", **provided)

    assert_arrived(live, document, marker)
    assert not marker.exists()
    assert not each_ansible.cluster("wiki", "--diff").changed


def extra_configuration(marker: Path) -> Manifest:
    """Return the ConfigMap that the resource refers to."""
    every = texts(marker)
    data = {**dict(zip(KEYS, every, strict=False)), **{f"text-{index}": text for index, text in enumerate(every)}}
    return {"kind": "ConfigMap", "metadata": {"name": "extra"}, "data": data}


def assert_arrived(live: NamespaceClient, document: Manifest, marker: Path) -> None:
    """Each string is in the objects as it is in the resource."""
    every, extra = texts(marker), extra_configuration(marker)["data"]
    stored = live.get("Druid", "wiki")
    assert stored["metadata"]["annotations"].items() >= document["metadata"]["annotations"].items()
    assert stored["spec"]["nodes"]["data"]["dynamicConfig"] == document["spec"]["nodes"]["data"]["dynamicConfig"]
    common = live.get("ConfigMap", "wiki-druid-common-config")["data"]
    assert common == {**extra, "common.runtime.properties": properties(every)}
    node = live.get("ConfigMap", "druid-wiki-data-config")["data"]["runtime.properties"]
    assert node.endswith(properties(every))
    workload = live.get("StatefulSet", "druid-wiki-data")
    annotations = {f"text-{index}": text for index, text in enumerate(every)}
    assert workload["metadata"]["annotations"].items() >= annotations.items()
    assert workload["spec"]["template"]["metadata"]["annotations"].items() >= annotations.items()
    variables = {
        each["name"]: each.get("value", "") for each in workload["spec"]["template"]["spec"]["containers"][0]["env"]
    }
    assert variables.items() >= {each["name"]: each["value"] for each in document["spec"]["env"]}.items()


def test_text_in_a_message_is_never_evaluated(each_ansible: Ansible, live: NamespaceClient, tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    template = f"{{{{ lookup('pipe', 'touch {marker}') }}}}"
    document = all_kinds_cluster.resource()
    document["spec"]["nodes"]["data"]["podLabels"] = {"team": template}
    live.create(document)
    shown = each_ansible.cluster("wiki", "-vvv", fail_when_blocked=False)
    assert f'"{template}\\" cannot be the value of a label' in shown.output.replace('\\"{{', '"{{')
    failed = each_ansible.cluster("wiki", status=2)
    assert "cannot be the value of a label" in failed.output
    assert not marker.exists()
