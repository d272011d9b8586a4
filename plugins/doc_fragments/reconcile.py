# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of the actions that reconcile. The argument spec is plugin_utils/_reconcile/request.py: ARGUMENTS."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment ``druidops.druid.reconcile``."""

    DOCUMENTATION = r"""
options:
  wait_timeout:
    description: How long to wait, in seconds.
    type: int
    default: 600
  wait_sleep:
    description: Pause between two reconciles while waiting, in seconds.
    type: int
    default: 2
  fail_when_blocked:
    description:
      - Fail if changes are blocked, after the conditions have been written.
      - The operator sets this to V(false). Problems are then reported only in the conditions.
    type: bool
    default: true
  fail_on:
    description:
      - In check mode, fail if the plan has such changes, for a pipeline that stops on them. The result still has the
        plan.
      - With V(changes), any change, including destructive ones. With V(destructive), those that make the result
        RV(ignore:destructive) true. Both include changes that a pause defers.
      - Rejected without check mode, in which nothing would be prevented. Not for the operator.
    type: str
    choices: [never, changes, destructive]
    default: never
  plan_files:
    description:
      - Files on the controller, to which the plan is written, also in check mode. The form follows from the name, which
        ends in C(.json) or C(.md).
      - They begin with what the plan is about, including the context of the kubeconfig, and the API server. Then they
        have the fields of the result that are described below. Secrets are masked.
      - A relative path is relative to the working directory of C(ansible-playbook).
      - An existing file is removed first, and none is written if there is no plan, for example since the API server
        does not respond. Not for the operator.
    type: list
    elements: path
    default: []
  refuse_own_host:
    description:
      - Reject an address of Druid, from the resource or its Services, that points to the host where the task runs, or
        is link-local, that of a cloud's metadata service, or that of the Kubernetes API server. The address of the open
        connection counts, not the host name.
      - The operator sets this to V(true), since the author of a resource must not reach the other servers of its pod.
    type: bool
    default: false
  operator:
    description:
      - The task is one of operator-sdk's Ansible operator, and takes its settings from the environment of the operator
        (docs/image.md). O(fail_when_blocked) is then V(false), and options that the environment sets have its values.
      - Without this option, no variable of the operator's environment has any meaning.
    type: bool
    default: false
  ignored_variables:
    description:
      - Set by the role. Names of variables that begin with the prefix of the role's variables, and that are not the
        role's. Any other unknown variable with that prefix is rejected if it is similar to a known one,
        otherwise a warning reports it.
      - If this option is not set, variables are not checked.
    type: list
    elements: str
"""

    ENDPOINT = r"""
options:
  allowed_endpoint_hosts:
    description:
      - Hosts (C(host) or C(host:port)) to which C(endpoint.url) of the resource may send the credentials of any Secret.
        V(*) allows all.
      - To any other host, credentials are sent only if the Secret has it in its annotation
        C(druid.apache.org/allowed-hosts), a list that is separated by commas. An author of resources is not
        necessarily allowed to read the Secret.
      - Not needed for the address in O(url), nor for the Service of a router.
    type: list
    elements: str
    default: []
"""
