# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process of a run: it reconciles without Ansible if the run is one of our own playbooks, exactly as shipped.

What is of any other kind is run by the real ansible-runner, with the reason in the log: other files, variables,
settings and arguments may mean anything. So is a run that needs Helm, which is run by modules of kubernetes.core.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import ansible_collections.druidops.druid.plugins.plugin_utils as kernel
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import Helm
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import CollectorKind
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kinds import KINDS as OF_OBJECTS
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import fields, schema
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import operator_environment
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import operator_task
from kubernetes.config import kube_config

from . import ansible_runner, events, memory, resident, restrictions, shipped
from .message import Request

# The exit status of ansible-playbook after a failed task.
_FAILED_TASK = 2
_OF_ANSIBLE = f"{kernel.__name__}._reconcile.action"


class NeedsAnsible(Exception):
    """The reconcile has something to do that only a playbook can: nothing has been written."""


def _helm(module: str, _arguments: Mapping[str, Any], _environment: Mapping[str, str]) -> NoReturn:
    raise NeedsAnsible(f"{module} is needed")


KINDS: Mapping[str, Kind[Any, Any, Any]] = {
    "operator_druid.yml": DRUID,
    "operator_druid_ingestion.yml": INGESTION,
    "operator_collector.yml": CollectorKind(Helm(_helm, {}, {})),
}
# The playbook of several kinds: a variable names the one of a run.
_OF_OBJECTS = "operator_druid_object.yml"


def load_all() -> None:
    """Import all modules of the kernel, some of which are only imported in a function, and read its documents."""
    for found in pkgutil.walk_packages(kernel.__path__, f"{kernel.__name__}."):
        if found.name != _OF_ANSIBLE:
            importlib.import_module(found.name)
    for kind in (*KINDS.values(), *OF_OBJECTS.values()):
        schema.spec_of(kind.name)
    fields.shape_of("Service").child("spec")


def carry_out(request: Request, problem: str, unfinished: str, wait: float) -> NoReturn:
    """Carry out the request. The process exits with the status of the run, and without the parent's cleanup.

    ``problem``: why no run can be one of our own playbooks, empty if it can. ``unfinished``: why the last run of the
    resource did not end by itself, empty if it did. ``wait``: in how many seconds it is to be repeated
    instead, if not 0.
    """
    status = _FAILED_TASK
    try:
        os.chdir(request.directory)
        os.environb.clear()
        os.environb.update(request.environment)
        os.environ[operator_environment.UNFINISHED] = unfinished
        status = _run([*map(os.fsdecode, request.arguments)], problem, wait)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else _FAILED_TASK
    except BaseException:  # noqa: BLE001 - this process must not go on as its parent
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


def _run(arguments: list[str], problem: str, wait: float) -> int:
    group, _kind, namespace, name = restrictions.parts_of(arguments[1])
    arguments = restrictions.restrict(arguments, dict(os.environ), time.time())
    run = _requested(arguments)
    if wait and run:
        operator_environment.report_start()
        run.begin()
        return run.end((events.requeue(wait),), "", 0)
    share = memory.of_run(group)
    reason = problem or shipped.other_settings(os.environ) or _other_request(run, arguments[2:], (namespace, name))
    if run and not reason:
        run.begin()
        try:
            return _reconcile(run, _kind_of(run, arguments[5]), (namespace, name), share)
        except NeedsAnsible as needed:
            reason = str(needed)
    ansible_runner.report(reason)
    return ansible_runner.run(arguments, share + memory.OF_ANSIBLE)


def _requested(arguments: Sequence[str]) -> events.Run | None:
    """What ansible-operator requests, of any playbook or role; None if the arguments do not show it."""
    try:
        kept, ident = (arguments[arguments.index(option) + 1] for option in ("--rotate-artifacts", "-i"))
        return events.Run(arguments[1], int(kept), ident)
    except (ValueError, IndexError):
        return None


def _other_request(run: events.Run | None, options: Sequence[str], resource: tuple[str, str]) -> str:
    """Why this is not a run of one of our playbooks for this resource and nothing else; empty if it is."""
    if run is None or options[::2] != ["--rotate-artifacts", "-p", "-i"] or len(options) != 6:
        return f"its arguments are {' '.join(options)}"
    if not shipped.is_own(options[3]):
        return f"{options[3]} is not a playbook of the collection"
    meta = dict(zip(("namespace", "name"), resource, strict=True))
    found = run.read("extravars")
    expected = OF_OBJECTS if os.path.basename(options[3]) == _OF_OBJECTS else (None,)
    if found.pop(restrictions.META, None) != meta or found.pop(restrictions.KIND, None) not in expected or found:
        return f"it has other variables than the resource's name: {', '.join(found)}"
    return shipped.other_files(run.directory)


def _kind_of(run: events.Run, playbook: str) -> Kind[Any, Any, Any]:
    name = os.path.basename(playbook)
    return OF_OBJECTS[run.read("extravars")[restrictions.KIND]] if name == _OF_OBJECTS else KINDS[name]


def _reconcile(run: events.Run, kind: Kind[Any, Any, Any], resource: tuple[str, str], share: int) -> int:
    """Reconcile with at most so many bytes of memory more than now; the exit status."""
    printed = ["Reconciled without Ansible."]
    # the client of Kubernetes has determined it when it was imported
    kube_config.KUBE_CONFIG_DEFAULT_LOCATION = os.environ.get("KUBECONFIG", "~/.kube/config")
    try:
        memory.limit(share)
        returned = operator_task(kind, *resource, printed.append).run()
    except NeedsAnsible:
        raise
    except Exception as error:  # noqa: BLE001 - of any kind: a finalizer would be removed after a success
        if memory.is_exhausted(error):
            returned, status = {"failed": True, "msg": memory.exceeded(share)}, resident.OUT_OF_MEMORY
        else:
            traceback.print_exc()
            returned, status = {"failed": True, "msg": f"{type(error).__name__}: see the log"}, _FAILED_TASK
    else:
        status = _FAILED_TASK if returned.get("failed") else 0
    finally:
        memory.unlimit()
    output = "".join(f"{line}\n" for line in (*printed, *returned.get("plan", ()), returned.get("msg")) if line)
    sys.stdout.write(output if status else "")
    seconds = returned.get("requeue_after")
    ended = (events.ENDED,) if seconds is None else (events.requeue(seconds),)
    return run.end((events.failure(str(returned["msg"])), events.ENDED) if status else ended, output, status)
