# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ways to break the stand-in of ansible-operator, each in one part of what it promises."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """What is broken, in which file of the stand-in, by which change of its text, and which test has to notice."""

    broken: str
    file: str
    sound: str
    instead: str
    noticed_by: str


MUTATIONS = (
    Mutation(
        "what runs create has no owner",
        "injection.py",
        "    if by_reference:\n",
        "    if by_reference is None:\n",
        "test_owner_of_what_is_posted",
    ),
    Mutation(
        "the runs' own credentials are passed on",
        "api_proxy.py",
        '_HOP_BY_HOP | {"authorization"}',
        "_HOP_BY_HOP",
        "test_credentials_of_the_proxy",
    ),
    Mutation(
        "lists make watches",
        "api_proxy.py",
        "if answer is not None and asked.name and owner and self.inject_owner_ref:",
        'for answer_ in (answer or {}).get("items", ()):\n'
        '            self._recover(owner, {"apiVersion": "v1", "kind": "ConfigMap", **answer_})\n'
        "        if answer is not None and asked.name and owner and self.inject_owner_ref:",
        "test_watch_after_get_only",
    ),
    Mutation(
        "reads of single objects make no watches",
        "api_proxy.py",
        "            self._recover(owner, answer)\n",
        "            pass\n",
        "test_watch_after_get_only",
    ),
    Mutation(
        "creations make no watches",
        "api_proxy.py",
        "        self._watch(owner, asked, kind_of(document), by_reference)\n",
        "",
        "test_watch_after_post",
    ),
    Mutation(
        "deletions of dependents are no cause",
        "predicates.py",
        "return change.what is What.DELETED",
        "return False",
        "test_watch_after_post",
    ),
    Mutation(
        "creations of dependents are a cause",
        "predicates.py",
        "return change.what is What.DELETED",
        "return True",
        "test_watch_after_post",
    ),
    Mutation(
        "the status of dependents is a cause",
        "predicates.py",
        ', "status": None}',
        "}",
        "test_status_of_dependent_is_no_cause",
    ),
    Mutation(
        "a status is a cause",
        "predicates.py",
        "return generations[0] != generations[1] or",
        "return True or",
        "test_changes_that_start_runs",
    ),
    Mutation(
        "annotations are no cause where they should be",
        "predicates.py",
        "(watch.watch_annotations_changes and annotated)",
        "False",
        "test_annotations_where_asked",
    ),
    Mutation(
        "requeue_after is ignored",
        "verdict.py",
        "        if _asks(event, told):\n",
        "        if False:\n",
        "test_requeue_after",
    ),
    Mutation(
        "events are dropped",
        "events.py",
        "                self._queue.put(event, timeout=_PATIENCE)\n",
        "                pass\n",
        "test_ignored_failure_is_none",
    ),
    Mutation(
        "failures are not tried again",
        "controller.py",
        "            self._queue.add_failed(key)\n",
        "            pass\n",
        "test_failure_is_tried_again",
    ),
    Mutation(
        "rescued failures are forgiven",
        "verdict.py",
        "failures.append(_message(told))",
        "pass",
        "test_rescued_failure_is_one",
    ),
    Mutation(
        "ignored failures are failures",
        "verdict.py",
        ' and told.get("ignore_errors") is not True',
        "",
        "test_ignored_failure_is_none",
    ),
    Mutation(
        "a run without an end is a success",
        "reconciler.py",
        "        if not said.complete and said.requeue_after is None:\n",
        "        if False:\n",
        "test_playbook_that_cannot_run",
    ),
    Mutation(
        "nobody looks what the run has made of the resource",
        "reconciler.py",
        'live = self.client.request("GET", path)',
        "live = resource",
        "test_one_live_read_a_run",
    ),
    Mutation(
        "the period is ignored",
        "controller.py",
        "                self._queue.add_after(key, delay)\n",
        "                pass\n",
        "test_period",
    ),
    Mutation(
        "two runs of a resource at once",
        "work_queue.py",
        "            if key not in self._processing:\n",
        "            if True:\n",
        "test_never_two_runs_of_a_thing",
    ),
    Mutation(
        "the cache does not follow",
        "informer.py",
        "                self._objects[key] = document\n",
        "                self._objects.setdefault(key, old or document)\n",
        "test_cache_follows",
    ),
    Mutation(
        "everything is asked of the API server",
        "api_proxy.py",
        "        if asked is None:\n            return None\n        owner",
        "        if asked:\n            return None\n        owner",
        "test_reads_are_answered_from_the_cache",
    ),
    Mutation(
        "the blacklist is ignored",
        "watches.py",
        'for each in values["blacklist"]',
        "for each in []",
        "test_blacklisted_kind_is_not_cached",
    ),
    Mutation(
        "a watch that is too old is tried for ever",
        "informer.py",
        '                self._version = ""\n                continue\n',
        "                continue\n",
        "test_history_that_is_gone",
    ),
    Mutation(
        "what a list no longer has is not missed",
        "informer.py",
        "for key in before.keys() - found.keys():",
        "for key in ():",
        "test_history_that_is_gone",
    ),
    Mutation(
        "resources that are deleted are run for all finalizers",
        "reconciler.py",
        '        if "deletionTimestamp" in resource["metadata"]:\n            return None\n',
        "",
        "test_deletion_without_our_finalizer",
    ),
    Mutation(
        "strings are not marked unsafe",
        "parameters.py",
        "mark = mark_unsafe if watch.mark_unsafe else _as_it_is",
        "mark = _as_it_is",
        "test_run_is_given",
    ),
    Mutation(
        "replicas do not wait for each other",
        "leader.py",
        '        if not self._is_free(lease["spec"]):\n',
        "        if False:\n",
        "test_leader_election",
    ),
    Mutation(
        "SIGTERM does not wait for runs",
        "program.py",
        "until = time.monotonic() + self._asked.graceful_shutdown_timeout",
        "until = 0.0",
        "test_sigterm_waits_for_runs",
    ),
    Mutation(
        "gauges can be set to 0",
        "metrics.py",
        '    elif change["set"]:\n',
        '    elif change["set"] or not change["set_to_current_time"]:\n',
        "test_metrics_of_the_runs",
    ),
    Mutation(
        "a metric can change its type",
        "metrics.py",
        "if _family(metric.type) != _family(stated[0]):",
        "if False:",
        "test_metrics_of_the_runs",
    ),
    Mutation(
        "a request for two metrics is taken for one",
        "metrics.py",
        "if len(stated) != 1:",
        "if not stated:",
        "test_metrics_of_the_runs",
    ),
)
