# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a person can try after the demo: blocks of a title and commands, in an order in which all of them work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NAMESPACE = "druid-demo"
QUERY = 'SELECT page, COUNT(*) AS "visits" FROM visits GROUP BY 1 ORDER BY 2 DESC'


@dataclass(frozen=True)
class Shown:
    """The cluster that the demo has shown."""

    name: str
    resource: Path
    directory: Path
    # of a router that can be reached from here
    router: str | None
    # whether the demo has started the cluster, and can stop it
    embedded: bool
    has_kubectl: bool = True


def suggestions(shown: Shown) -> Iterator[str]:
    """The lines."""
    yield f". {shown.directory}/environment"
    for heading, *commands in _blocks(shown):
        yield ""
        yield f"# {heading}"
        yield from commands


def _blocks(shown: Shown) -> Iterator[tuple[str, ...]]:
    kubectl = f"kubectl --namespace {NAMESPACE}"
    historicals = f"druid-{shown.name}-historicals"
    if shown.router:
        yield from _druid(shown, kubectl)
    if shown.has_kubectl:
        watch = f"{kubectl} rollout status statefulset/{historicals}"
        yield "Kill a pod, and watch it come back.", f"{kubectl} delete pod {historicals}-0", watch
    yield from _image(shown)
    if shown.has_kubectl:
        replicas = '{"spec": {"nodes": {"routers": {"replicas": 2}}}}'
        scale = f"{kubectl} patch druid {shown.name} --type merge --patch '{replicas}'"
        look = f"{kubectl} get druids,pods"
        yield (
            "Scale: two Routers. No operator runs here, so run the playbook after a change of the resource.",
            scale,
            _playbook(f"druid_cluster_name={shown.name}", "druid_cluster_wait=true"),
            look,
        )
    absent = ("druid_cluster_state=absent", "druid_cluster_wait=true")
    title = "Delete the cluster and its PVCs, but none that it has not created, such as druid-shared."
    yield title, _playbook(f"druid_cluster_name={shown.name}", *absent)
    if shown.embedded:
        yield "Stop everything. `make clean` also removes all files.", f"make -C {Path.cwd()} stop"


def _druid(shown: Shown, kubectl: str) -> Iterator[tuple[str, ...]]:
    escaped = QUERY.replace('"', r"\"")
    content = f"--header 'Content-Type: application/json' --data '{{\"query\": \"{escaped}\"}}'"
    forward = f"{kubectl} port-forward service/druid-{shown.name}-routers 8888"
    yield (
        f"Ask Druid at the address of its router. (The same at http://localhost:8888 during `{forward}`.)",
        f"curl --silent --show-error {content} {shown.router}/druid/v2/sql",
    )
    yield "Look inside.", f"{kubectl} logs druid-{shown.name}-historicals-0 --tail 3", f"{kubectl} get all,pvc"


def _image(shown: Shown) -> Iterator[tuple[str, ...]]:
    changed = shown.directory / "changed.yaml"
    # the node has one image of Druid, by two tags
    tag = "33.0.0-rebuilt" if shown.router else "34.0.0"
    apply = f"druid_cluster_resource={changed}"
    yield (
        "Another image: the plan, which writes nothing (--check --diff), then the rollout, group by group.",
        f"sed 's/druid:33.0.0/druid:{tag}/' {shown.resource} >{changed}",
        f"{_playbook(apply)} --check --diff",
        _playbook(apply, "druid_cluster_wait=true"),
    )


def _playbook(*variables: str) -> str:
    return f"ansible-playbook druidops.druid.cluster -e druid_cluster_namespace={NAMESPACE}" + "".join(
        f" -e {variable}" for variable in variables
    )
