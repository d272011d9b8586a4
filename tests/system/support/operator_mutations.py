# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Mutations of the stand-in of ansible-operator, each of one guaranteed behavior."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """The mutated behavior, the file of the stand-in, the replaced text, and the test that has to detect it."""

    broken: str
    file: str
    sound: str
    instead: str
    noticed_by: str


MUTATIONS = (
    Mutation(
        "the credentials of the run are passed on",
        "proxy.py",
        '        agent = {"User-Agent": request.headers.get("user-agent", "")}\n',
        '        agent = {"User-Agent": "", "Authorization": request.headers.get("authorization", "")}\n',
        "test_reads_are_served_from_the_cache",
    ),
    Mutation(
        "everything is requested from the API server",
        "proxy.py",
        "        if match is None or",
        "        if match or",
        "test_reads_are_served_from_the_cache",
    ),
    Mutation(
        "the cache does not follow",
        "informer.py",
        "                self._objects[key] = document\n",
        "                self._objects.setdefault(key, old or document)\n",
        "test_reads_are_served_from_the_cache",
    ),
    Mutation(
        "selectors that the cache does not know are answered",
        "proxy.py",
        "not _EQUALITIES.fullmatch(selector)",
        "False",
        "test_reads_are_served_from_the_cache",
    ),
    Mutation(
        "lists make watches",
        "proxy.py",
        '        if owner and "items" not in found and owner.gvk in self.dependents:\n',
        '        for each in found.get("items", ()) if owner else ():\n'
        '            self.dependents[owner.gvk].read({"apiVersion": "v1", "kind": "ConfigMap", **each})\n'
        '        if owner and "items" not in found and owner.gvk in self.dependents:\n',
        "test_watches_objects_that_were_read_by_name",
    ),
    Mutation(
        "reads of single objects make no watches",
        "dependents.py",
        "            if kind in self._watched:\n",
        "            if kind:\n",
        "test_watches_objects_that_were_read_by_name",
    ),
    Mutation(
        "deletions of dependents are no cause",
        "dependents.py",
        "        return new is None\n",
        "        return False\n",
        "test_watches_objects_that_were_read_by_name",
    ),
    Mutation(
        "creations of dependents are a cause",
        "dependents.py",
        "        return new is None\n",
        "        return True\n",
        "test_watches_objects_that_were_read_by_name",
    ),
    Mutation(
        "the status of dependents is a cause",
        "dependents.py",
        ', "status": None}',
        "}",
        "test_status_of_dependent_is_no_cause",
    ),
    Mutation(
        "a status is a cause",
        "controller.py",
        "    return annotated or",
        "    return True or",
        "test_causes_of_runs",
    ),
    Mutation(
        "annotations are no cause",
        "controller.py",
        "    return annotated or",
        "    return",
        "test_causes_of_runs",
    ),
    Mutation(
        "requeue_after is ignored",
        "events.py",
        'data.get("task_action") == _REQUEUE',
        "False",
        "test_requeue_after",
    ),
    Mutation(
        "events are dropped",
        "events.py",
        "            self._queue.put(event)\n",
        "            pass\n",
        "test_causes_of_runs",
    ),
    Mutation(
        "failures are not tried again",
        "controller.py",
        "            self._queue.add_failed(key)\n",
        "            pass\n",
        "test_failures_are_retried",
    ),
    Mutation(
        "rescued failures are forgiven",
        "events.py",
        "failures.append(",
        "str(",
        "test_failures_are_retried",
    ),
    Mutation(
        "ignored failures are failures",
        "events.py",
        ' and data.get("ignore_errors") is not True',
        "",
        "test_failures_are_retried",
    ),
    Mutation(
        "a run without an end is a success",
        "reconciler.py",
        "        if not result.complete and result.requeue_after is None:\n",
        "        if False:\n",
        "test_playbook_that_cannot_run",
    ),
    Mutation(
        "the resource is not read after the run",
        "reconciler.py",
        "        live = self._get(path)\n",
        "        live = resource\n",
        "test_two_live_reads_a_run",
    ),
    Mutation(
        "the period is ignored",
        "controller.py",
        "            self._queue.add_after(key, delay)\n",
        "            pass\n",
        "test_period",
    ),
    Mutation(
        "a period that is no duration is ignored",
        "reconciler.py",
        '            raise ReconcileError(f"Unable to parse reconcile period annotation: {error}") from error\n',
        "            return self.period * bool(error)\n",
        "test_period",
    ),
    Mutation(
        "two runs of a resource at once",
        "work_queue.py",
        "            if key not in self._processing:\n",
        "            if True:\n",
        "test_no_concurrent_runs_of_a_resource",
    ),
    Mutation(
        "a watch that is too old is resumed for ever",
        "informer.py",
        '                self._version = ""\n                continue\n',
        "                continue\n",
        "test_expired_resource_version",
    ),
    Mutation(
        "what a list no longer has is not missed",
        "informer.py",
        "for key in before.keys() | found.keys():",
        "for key in found:",
        "test_expired_resource_version",
    ),
    Mutation(
        "strings are not marked unsafe",
        "launch.py",
        '    return {"__ansible_unsafe": value} if isinstance(value, str) else value\n',
        "    return value\n",
        "test_arguments_of_a_run",
    ),
    Mutation(
        "replicas do not wait for each other",
        "leader.py",
        '        if not self._is_free(lease["spec"]):\n',
        "        if False:\n",
        "test_leader_election",
    ),
    Mutation(
        "other namespaces are watched",
        "informer.py",
        "        self._path = resource.path(namespace)\n",
        "        self._path = resource.path()\n",
        "test_watched_namespaces",
    ),
    Mutation(
        "SIGTERM does not wait for runs",
        "program.py",
        "until = time.monotonic() + self._flags.graceful_shutdown_timeout",
        "until = 0.0",
        "test_sigterm_waits_for_runs",
    ),
    Mutation(
        "gauges can be set to 0",
        "metrics.py",
        ' and change.get("set"):',
        ' and "set" in change:',
        "test_metrics_of_the_runs",
    ),
    Mutation(
        "a metric can change its type",
        "metrics.py",
        "if known != kind:",
        "if False:",
        "test_metrics_of_the_runs",
    ),
    Mutation(
        "a request for two metrics is taken for one",
        "metrics.py",
        "if len(posted) != 1:",
        "if not posted:",
        "test_metrics_of_the_runs",
    ),
)
