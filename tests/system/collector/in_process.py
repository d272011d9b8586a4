# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the action collector does, without ansible-playbook: the modules of kubernetes.core run the real Helm."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import Helm, helm_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import CollectorKind
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import ARGUMENTS as OWN
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import argument_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import operator_environment
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS, CONSTRAINTS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import Task
from ansible_collections.druidops.druid.tests.system.support.playbook import Core, Run

# Runs a module as Ansible does: its arguments are in the standard input.
_MODULE = """\
import runpy, sys
from ansible.module_utils import basic
basic._ANSIBLE_ARGS, basic._ANSIBLE_PROFILE = sys.stdin.buffer.read(), "legacy"
runpy.run_module(sys.argv[1], run_name="__main__")
"""


@dataclass(frozen=True)
class Modules:
    """The modules of a kubernetes.core, with its ansible-core, in this environment."""

    core: Core
    environment: Mapping[str, str]
    temporary: str

    def run(self, name: str, options: Mapping[str, Any], environment: Mapping[str, str]) -> Mapping[str, Any]:
        """Run a module, and return its result."""
        module = f"ansible_collections.{name.replace('.core.', '.core.plugins.modules.')}"
        arguments = {"ANSIBLE_MODULE_ARGS": {**options, "_ansible_tmpdir": self.temporary}}
        done = subprocess.run(
            [self.core.programs / "python", "-c", _MODULE, module],
            input=json.dumps(arguments),
            env={**self.environment, "PYTHONPATH": self.core.kubernetes_core, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.stdout.startswith("\n{"), done.stdout
        returned: dict[str, Any] = json.loads(done.stdout)
        return returned


def run(core: Core, environment: Mapping[str, str], specified: Mapping[str, Any], *, check_mode: bool) -> Run:
    """Run the action with these options; return what the role prints of it, with the differences."""
    validated = ArgumentSpecValidator({**ARGUMENTS, **OWN, **argument_spec()}, **CONSTRAINTS).validate(specified)
    assert not validated.error_messages, validated.error_messages
    arguments = operator_environment.with_environment(validated.validated_parameters, {})
    printed: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        connection = helm_connection(arguments, {})
        run_module, files = Modules(core, environment, directory).run, (directory, arguments["helm_registry_config"])
        helm = Helm(run_module, connection.arguments, connection.environment, arguments["helm_binary"], *files)
        task = Task(CollectorKind(helm), arguments, os.path.abspath, printed.append, printed.append, check_mode)
        returned = task.run()
    conditions = [f"{each['type']} {each['reason']}: {each['message']}" for each in returned.get("conditions", ())]
    lines = [*printed, *returned.get("plan", ()), *conditions, *returned.get("warnings", ()), returned.get("msg", "")]
    output = "\n".join([*lines, json.dumps(returned.get("diff")), f"changed={int(returned['changed'])}"])
    return Run(2 if returned.get("failed") else 0, output)
