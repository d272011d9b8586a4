# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables that the roles do not know, and a namespace that is not specified, with ansible-playbook."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible

REMEDY = "list their names in druid_cluster_ignored_variables"
TEMPLATE = "{{ lookup('ansible.builtin.pipe', 'touch templated') }}"


def role(**variables: Any) -> dict[str, Any]:
    """Return a task that runs the role with these variables, which go without their prefix."""
    prefixed = {f"druid_cluster_{name}": value for name, value in variables.items()}
    return {"ansible.builtin.include_role": {"name": "druidops.druid.druid_cluster"}, "vars": prefixed}


def one_line(output: str) -> str:
    """Return the output without the line breaks that Ansible adds to warnings."""
    return " ".join(output.split())


def test_a_typing_error_is_refused_before_anything_is_read(each_ansible: Ansible, live: NamespaceClient) -> None:
    mark = live.mark()
    playbook = each_ansible.cluster(nmae="c", spec=small_cluster.spec(), status=2)
    own_play = each_ansible.tasks(role(name="c", spec=small_cluster.spec(), sate="absent"), status=2)
    assert "druid_cluster_nmae (did you mean druid_cluster_name?)" in playbook.output
    assert "druid_cluster_sate (did you mean druid_cluster_state?)" in own_play.output
    assert all(REMEDY in one_line(run.output) for run in (playbook, own_play))
    assert live.requests(mark) == []


def test_own_variables_cause_a_warning_or_are_listed(each_ansible: Ansible, live: NamespaceClient) -> None:
    variables = {"spec": small_cluster.spec(), "owner": "{{ undefined }}", "tags": ["a"]}
    warned = each_ansible.cluster("c", "--check", **variables)
    assert "Unknown variables have no effect: druid_cluster_owner, druid_cluster_tags." in one_line(warned.output)
    assert REMEDY in one_line(warned.output)
    ignored = ["druid_cluster_owner", "druid_cluster_tags"]
    silent = each_ansible.tasks(
        role(name="c", namespace=live.namespace, ignored_variables="{{ own }}", **variables),
        options=("--check",),
        vars={"own": ignored},
    )
    assert "Unknown variables" not in silent.output
    assert "WARNING" not in silent.output


def test_a_listed_variable_may_look_like_a_typing_error(ansible: Ansible, live: NamespaceClient) -> None:
    del live
    variables = {"spec": small_cluster.spec(), "names": "a"}
    assert "(did you mean druid_cluster_name?)" in ansible.cluster("c", "--check", status=2, **variables).output
    assert ansible.cluster("c", "--check", ignored_variables=["druid_cluster_names"], **variables).changed


def test_a_task_without_the_role_has_no_such_variables(ansible: Ansible, live: NamespaceClient) -> None:
    del live
    variables = ansible.write("variables.json", {"druid_cluster_nmae": "a", "druid_cluster_owner": "b"})
    run = ansible.task("--check", "--extra-vars", variables, name="c", spec=small_cluster.spec())
    assert "Unknown variables" not in run.output


def test_neither_names_nor_values_are_templated(each_ansible: Ansible, live: NamespaceClient) -> None:
    del live
    variables = {f"owner{TEMPLATE}": "a", "comment": TEMPLATE}
    run = each_ansible.cluster("c", "--check", "-v", spec=small_cluster.spec(), **variables)
    assert "Unknown variables have no effect: druid_cluster_comment, druid_cluster_owner{{" in one_line(run.output)
    assert not (each_ansible.directory / "templated").exists()


def test_the_ingestion_role_has_its_own_prefix(ansible: Ansible, live: NamespaceClient) -> None:
    mark = live.mark()
    variables = ansible.write("variables.json", {"druid_ingestion_nmae": "i", "druid_cluster_nmae": "c"})
    output = ansible.run("druidops.druid.ingestion", "--extra-vars", variables, status=2).output
    assert "druid_ingestion_nmae (did you mean druid_ingestion_name?)" in output
    assert "druid_cluster_nmae" not in output
    assert live.requests(mark) == []


def test_a_namespace_that_is_not_specified_is_printed(each_ansible: Ansible) -> None:
    printed = "no-such-cluster: in the namespace default, because none is specified"
    assert printed in each_ansible.cluster("no-such-cluster", namespace=None, status=2).output
    assert "because none is specified" not in each_ansible.cluster("no-such-cluster", status=2).output
