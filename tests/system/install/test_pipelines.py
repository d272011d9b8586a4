# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pipelines of docs/pipelines.md, whose steps run as documented, in a repository with the sample."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/pipelines.md").read_text(encoding="utf-8")
SAMPLE: dict[str, Any] = yaml.safe_load((ROOT / "config/samples/small.yaml").read_text(encoding="utf-8"))
CHANGES, DESTRUCTIVE = 3, 4


def pipeline(title: str) -> dict[str, Any]:
    """Return the file of a pipeline in the page."""
    [document] = re.findall(rf"^## {title}\n.*?^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    found: dict[str, Any] = yaml.safe_load(document)
    return found


@dataclass(frozen=True)
class Repository:
    """A repository with a resource, and a machine that runs the steps of its pipelines."""

    ansible: Ansible
    live: NamespaceClient

    @property
    def directory(self) -> Path:
        return self.ansible.directory

    def commit(self, **nodes: Any) -> None:
        """Change groups of the sample; None removes one."""
        changed = {**SAMPLE["spec"]["nodes"], **nodes}
        spec = {**SAMPLE["spec"], "nodes": {key: group for key, group in changed.items() if group}}
        file = self.directory / "druid/small.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump({**SAMPLE, "spec": spec}), encoding="utf-8")

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script as both runners do: the first command that fails ends it."""
        here = {**self.ansible.environment(), **environment}
        # of the documented namespace, which other tests use
        text = script.replace("druid_cluster_namespace=druid", f"druid_cluster_namespace={self.live.namespace}")
        return subprocess.run(
            ["bash", "-e", "-c", text],
            cwd=self.directory,
            env={name: value for name, value in here.items() if name in environment or name != "K8S_AUTH_KUBECONFIG"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )

    def github(self) -> tuple[int, str]:
        """Return the exit status of the job, and its summary."""
        variables, summary = (self.directory / name for name in ("environment", "summary"))
        for file in (variables, summary):
            file.write_text("", encoding="utf-8")
        fixed = {"GITHUB_ENV": variables, "GITHUB_STEP_SUMMARY": summary, "RUNNER_TEMP": self.directory}
        secret = {"${{ secrets.DRUID_PLANNER_KUBECONFIG }}": self.live.plane.kubeconfig("druidops").read_text("utf-8")}
        status = 0
        for step in pipeline("GitHub Actions")["jobs"]["plan"]["steps"]:
            if "run" not in step or step["name"] == "Install" or (status and step.get("if") != "always()"):
                continue
            exported = dict(line.split("=", 1) for line in variables.read_text(encoding="utf-8").splitlines())
            own = {name: secret[value] for name, value in step.get("env", {}).items()}
            finished = self.run(step["run"], **{name: str(path) for name, path in fixed.items()}, **exported, **own)
            status = status or finished.returncode
        return status, summary.read_text(encoding="utf-8")

    def gitlab(self) -> int:
        """Return the exit status of the job."""
        job = pipeline("GitLab CI")["druid-plan"]
        assert job["variables"] == {"K8S_AUTH_KUBECONFIG": "$DRUID_PLANNER_KUBECONFIG"}
        kubeconfig = str(self.live.plane.kubeconfig("druidops"))
        return self.run("\n".join(job["script"]), K8S_AUTH_KUBECONFIG=kubeconfig).returncode

    def plan(self) -> dict[str, Any]:
        """Return the plan of the last job."""
        found: dict[str, Any] = json.loads((self.directory / "plan.json").read_text(encoding="utf-8"))
        return found


@pytest.fixture
def repository(ansible: Ansible, live: NamespaceClient) -> Repository:
    return Repository(ansible, live)


def test_pipelines_tell_no_change_a_change_and_a_destructive_one(repository: Repository) -> None:
    repository.commit()
    status, summary = repository.github()
    used = yaml.safe_load(repository.live.plane.kubeconfig("druidops").read_text("utf-8"))
    place = f"context `{used['current-context']}`, server `{used['clusters'][0]['cluster']['server']}`"
    where = f"Druid `small`, namespace `{repository.live.namespace}`, {place}\n"
    assert (status, summary.startswith(where)) == (0, True), summary
    assert "create Druid small\n" in summary
    assert repository.gitlab() == CHANGES
    assert not repository.live.find("Druid", "small")

    applied = repository.ansible.cluster(resource=str(repository.directory / "druid/small.yaml"))
    assert f'"{where.strip().replace("`", "")}",' in applied.output
    status, summary = repository.github()
    assert (status, summary) == (0, f"{where}\nNothing to change.\n")
    assert repository.gitlab() == 0

    repository.commit(brokers=None)
    status, summary = repository.github()
    assert (status, summary.startswith(where), "This is destructive." in summary) == (2, True, True), summary
    assert repository.gitlab() == DESTRUCTIVE
    first = repository.plan()
    assert repository.gitlab() == DESTRUCTIVE
    assert repository.plan() == first


def test_plan_is_not_made_of_another_run(repository: Repository) -> None:
    repository.commit()
    for name in ("plan.json", "plan.md"):
        (repository.directory / name).write_text("{}", encoding="utf-8")
    job = pipeline("GitLab CI")["druid-plan"]
    kubeconfig = repository.live.plane.kubeconfig("druidops").read_text("utf-8")
    nowhere = repository.directory / "nowhere"
    nowhere.write_text(re.sub(r"https://[^\s\"]*", "https://127.0.0.1:1", kubeconfig), encoding="utf-8")
    assert repository.run("\n".join(job["script"]), K8S_AUTH_KUBECONFIG=str(nowhere)).returncode == 2
    assert not (repository.directory / "plan.json").exists()
    assert repository.github()[0] == 0


def test_changes_are_not_made_with_an_option_that_is_to_prevent_them(ansible: Ansible, live: NamespaceClient) -> None:
    spec = {**SAMPLE, "metadata": {"name": "small"}}
    found = ansible.cluster(resource=spec, fail_on="destructive", status=2)
    assert "fail_on is for check mode (--check)" in found.output
    assert not live.find("Druid", "small")


def test_no_earlier_plan_is_left_by_a_mistyped_variable(ansible: Ansible, tmp_path: Path) -> None:
    file = tmp_path / "earlier.json"
    file.write_text("{}", encoding="utf-8")
    ansible.cluster(resource={**SAMPLE, "metadata": {"name": "small"}}, plan_files=[str(file)], nmae="x", status=2)
    assert not file.exists()


def test_installation_is_that_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    steps = pipeline("GitHub Actions")["jobs"]["plan"]["steps"]
    [install] = [step["run"] for step in steps if step.get("name") == "Install"]
    assert install in readme
    assert pipeline("GitLab CI")["druid-plan"]["before_script"] == install.splitlines()
