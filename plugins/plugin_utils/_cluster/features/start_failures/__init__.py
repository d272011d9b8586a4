# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why Druid does not start: the reason in the log of a container, and the probe that stopped it, in the conditions.

Read are the logs of the first pods that conditions name, at most five in a reconcile, and only those of containers that
have ended, or that have not been ready for a minute. The permission to read them (`pods/log`) can be missing: then the
conditions have the command that prints the log. So they have if a Secret cannot be read that the pod refers to, as its
values could be in the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets import masking
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.start_failures.log import (
    obstacle,
    reason_of_end,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Explanation, Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.pod_references import uses
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.missing_pods import EVENT
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import (
    KILLED,
    MAX_MESSAGE_CHARACTERS,
    TERMINATED,
    crashed,
    hanging,
    has_restarted,
    last_end,
    log_command,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import END, MAX_SHOWN, excerpt

# As many pods as a condition names.
MAX_PODS = MAX_SHOWN
_STARTUP, _LIVENESS, _READINESS = "Startup", "Liveness", "Readiness"
_PROBES = {_STARTUP: "startupProbe", _LIVENESS: "livenessProbe", _READINESS: "readinessProbe"}
_UNHEALTHY = re.compile(rf"({'|'.join(_PROBES)}) probe (?:failed|errored): ?(.*)", re.DOTALL)
# The address of the pod is not in the result, and of a chain of errors only the last one is.
_REQUEST = re.compile(
    r'Get "(\w{4,5})://(?:\[[^]/"]{0,300}\]|[^/":]{0,300}):(\d{1,5})([^"]{0,300})": (?:.{0,1000}: )?([^:]{1,300})',
    re.DOTALL,
)
_MAX_OUTPUT_CHARACTERS = 150

_Container = Mapping[str, Any]
_Masked = Callable[[str], str]


class StartFailures(Feature):
    """Explains the first pods that do not start."""

    def prepared(self, inputs: Inputs) -> Inputs:
        """Return the inputs with the explanations of these pods, as far as there are some."""
        return replace(inputs, observed=replace(inputs.observed, explanations=dict(_explanations(inputs))))


def _explanations(inputs: Inputs) -> Iterator[tuple[str, Explanation]]:
    pods = (pod for group in inputs.cluster.groups for pod in sorted(inputs.observed.pods_of(group), key=_name))
    failing = [*islice((pod for pod in pods if crashed(pod) or hanging(pod, inputs.now)), MAX_PODS)]
    unread = [_unread_secret(pod, inputs) for pod in failing]
    # Before lines and words are taken out of it. Most clusters have none, and to search all objects takes a while.
    masked = _masker(inputs) if failing else str
    for pod, secret in zip(failing, unread, strict=True):
        container = crashed(pod)
        if secret:
            text, is_cause = _hidden(pod, container or hanging(pod, inputs.now) or {}, secret), False
        elif container:
            text, is_cause = _of_end(pod, container, inputs, masked)
        else:
            text, is_cause = _of_hanging(pod, inputs, masked)
        if text:
            yield _name(pod), Explanation(text, is_cause)


def _unread_secret(pod: Manifest, inputs: Inputs) -> str:
    """Read the Secrets that a pod refers to, so that their values are masked; return one that cannot be read."""
    for key in uses(pod["spec"]):
        try:
            if key.kind == "Secret":
                inputs.reads.get(*key)
        except ApiError:
            return str(key)
    return ""


def _hidden(pod: Manifest, container: _Container, secret: str) -> str:
    text = f"its log is not shown, because {secret} cannot be read, whose values could be in it"
    return text if crashed(pod) else _joined(text, log_command(pod, {**container, "restartCount": 0}))


def _of_end(pod: Manifest, container: _Container, inputs: Inputs, masked: _Masked) -> tuple[str, bool]:
    """Return why a container has ended: its probe, if that stopped it, and what the log reports."""
    code, message = last_end(container)
    log = inputs.reads.pod_log(_name(pod), container["name"], has_restarted(container)) or message
    if code not in (KILLED, TERMINATED):
        printed = excerpt(" ".join(masked(message).split()), MAX_MESSAGE_CHARACTERS, END)
        return reason_of_end(log, masked) or printed, True
    probe = next(_failed_probes(pod, container, inputs, (_STARTUP, _LIVENESS)), "")
    stopped = f"the kubelet has stopped it, because its {probe}" if probe else ""
    return _joined(stopped, obstacle(log, masked, _ports(pod, container, _STARTUP))), True


def _of_hanging(pod: Manifest, inputs: Inputs, masked: _Masked) -> tuple[str, bool]:
    """Return why a container that runs does not become ready: its probe, what the log reports, and how to read it."""
    container = hanging(pod, inputs.now) or {}
    kind = _READINESS if container.get("started") else _STARTUP
    probe = next(_failed_probes(pod, container, inputs, (kind,)), "")
    cause = obstacle(inputs.reads.pod_log(_name(pod), container["name"], False), masked, _ports(pod, container, kind))
    shown = f"its {probe}" if probe else "" if cause else _awaited(pod, container, kind)
    return _joined(shown, cause, log_command(pod, {**container, "restartCount": 0})), bool(cause)


def _awaited(pod: Manifest, container: _Container, kind: str) -> str:
    if _PROBES[kind] in _spec_of(pod, container):
        return f"its {kind.lower()} probe has not succeeded yet"
    return f"its container {container.get('name')} has not ended yet"


def _spec_of(pod: Manifest, container: _Container) -> _Container:
    spec = pod["spec"]
    containers = (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))
    return next((each for each in containers if each["name"] == container.get("name")), {})


def _failed_probes(pod: Manifest, container: _Container, inputs: Inputs, kinds: Sequence[str]) -> Iterator[str]:
    """Yield the probes that have failed, with their error, the most frequent one first."""
    selector = f"involvedObject.uid={pod['metadata'].get('uid')},reason=Unhealthy"
    path = f"{{{container['name']}}}"
    events = inputs.reads.list_objects(EVENT, field_selector=selector)
    own = (each for each in events if str((each.get("involvedObject") or {}).get("fieldPath")).endswith(path))
    for event in sorted(own, key=lambda each: -(each.get("count") or 0)):
        failed = _UNHEALTHY.match(event.get("message") or "")
        if failed and failed[1] in kinds:
            yield f"{failed[1].lower()} probe fails ({_error(failed[2])})"


def _error(text: str) -> str:
    request = _REQUEST.fullmatch(text)
    if request:
        scheme, port, path, error = request.groups()
        return f"{scheme.upper()} {path} at port {port}: {error}"
    return excerpt(" ".join(text.split()), _MAX_OUTPUT_CHARACTERS)


def _ports(pod: Manifest, container: _Container, kind: str) -> Sequence[int]:
    """Return the port that the probe asks, by HTTP or TCP."""
    spec = _spec_of(pod, container)
    named = {port["name"]: port["containerPort"] for port in spec.get("ports") or () if port.get("name")}
    probe = spec.get(_PROBES[kind]) or {}
    asked = ((probe.get(how) or {}).get("port") for how in ("httpGet", "tcpSocket"))
    return [number for port in asked if isinstance(number := named.get(port, port), int)]


def _masker(inputs: Inputs) -> _Masked:
    """Return a function that masks the secrets of all objects that were read, and what is in places of secrets."""
    referenced = filter(None, inputs.observed.references.values())
    read = (*inputs.observed.objects.values(), *referenced, *inputs.reads.read_objects())
    known = masker_of([searched(inputs.resource), *read])
    return lambda text: known.text(masking.masked(text))


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def _name(pod: Manifest) -> str:
    name: str = pod["metadata"]["name"]
    return name
