# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Java that is larger than its container, and processing buffers larger than the direct memory of Java. Pure.

The sizes are in bytes. What is not certain is not reported: a value that only the pod knows, a default that depends on
the number of processors, a start script that is not the image's.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.config_map import (
    common_configuration,
    node_configuration,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import (
    binary_size,
    parse_bytes,
    parse_quantity,
    properties,
)

# distribution/docker/druid.sh of Druid: its variables, each with the option whose lines in jvm.config it replaces.
_SCRIPT = "/druid.sh"
_REPLACING = {
    "DRUID_XMX": "-Xmx",
    "DRUID_XMS": "-Xms",
    "DRUID_MAXNEWSIZE": "-XX:MaxNewSize=",
    "DRUID_NEWSIZE": "-XX:NewSize=",
    "DRUID_MAXDIRECTMEMORYSIZE": "-XX:MaxDirectMemorySize=",
}
# Of an option that is set several times, the last one counts.
_BEFORE = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
_AFTER = ("_JAVA_OPTIONS",)
_HEAP = ("-Xmx", "-XX:MaxHeapSize=")
_DIRECT = ("-XX:MaxDirectMemorySize=",)
# Options in files, and variables.
_UNREAD = ("@", "$", "-XX:Flags=", "-XX:VMOptionsFile=")
_UNKNOWN = "@"
# Those that allocate them; a Router and a MiddleManager ignore the properties.
_WITH_BUFFERS = ("broker", "historical", "indexer", "peon")
_PROCESSING = "druid.processing."
_FORKED = "druid.indexer.fork.property."
_PEON_OPTIONS = "druid.indexer.runner.javaOpts"
_NUMBER = re.compile(r"[1-9][0-9]{0,4}")
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class _Buffers:
    """What Druid compares with the direct memory at its start."""

    size: int
    threads: int | None
    merging: int

    @property
    def needed(self) -> int:
        return self.size * ((self.threads or 0) + self.merging + 1)

    def __str__(self) -> str:
        threads = f"{self.threads} numThreads + " if self.threads else ""
        size = _text(self.size)
        return f"{size} x ({threads}{self.merging} numMergeBuffers + 1) = {_text(self.needed)}"


@dataclass(frozen=True)
class _Jvm:
    """One process: None is unknown. `direct` is as large as the heap if it is not set; few servers use much of it."""

    heap: int | None
    direct: int | None
    sets_direct: bool
    buffers: _Buffers | None
    has_buffers: bool

    def off_heap(self, limit: Decimal) -> tuple[int, str]:
        """Return the direct memory that counts, with its term; what is larger than the limit is meant as no limit."""
        if self.has_buffers and self.sets_direct and self.direct is not None and self.direct <= limit:
            return self.direct, f" + {_text(self.direct)} of direct memory (-XX:MaxDirectMemorySize)"
        if self.buffers:
            return self.buffers.needed, f" + {_text(self.buffers.needed)} of processing buffers"
        return 0, ""


class MemoryWarnings(Feature):
    """Warns about them."""

    def warnings(self, inputs: Inputs) -> Iterator[str]:
        """Yield a warning for each process that does not start, or does not stay within its container."""
        return memory_warnings(inputs.cluster)


def memory_warnings(cluster: Cluster) -> Iterator[str]:
    """Yield a warning for each limit that Java can exceed, and for each Druid that lacks direct memory to start."""
    for group in cluster.groups:
        variables = _variables(group)
        if variables is not None:
            yield from _of_group(group, variables)


def _of_group(group: Group, variables: Mapping[str, str]) -> Iterator[str]:
    where = f"spec.nodes[{group.key}]:"
    words = _words(_server_options(group, variables), variables)
    settings = {**_properties(group, variables), **_system_properties(words)}
    jvm = _jvm(words, settings, group.node_type)
    peon, tasks = None, _number(settings.get("druid.worker.capacity"))
    if group.node_type == "middleManager":
        options = _words(_peon_options(settings), variables)
        forked = {name[len(_FORKED) :]: value for name, value in settings.items() if name.startswith(_FORKED)}
        peon = _jvm(options, {**_system_properties(options), **settings, **forked}, "peon")
        yield from _refused(peon, f"{where} each task has", f" in {_PEON_OPTIONS}Array", "tasks that answer queries do")
    yield from _refused(jvm, f"{where} it has", "", "Druid does")
    raw = ((group.first_present("resources") or {}).get("limits") or {}).get("memory")
    limit = parse_quantity(raw)
    if limit:
        yield from _larger(f"{where} resources.limits.memory is {raw}", limit, jvm, peon, tasks)


def _refused(jvm: _Jvm, has: str, option: str, who: str) -> Iterator[str]:
    """Yield a warning if the check of DruidProcessingModule or BrokerProcessingModule fails."""
    buffers = jvm.buffers
    if not buffers or jvm.direct is None or buffers.needed <= jvm.direct:
        return
    source = "-XX:MaxDirectMemorySize" if jvm.sets_direct else "as -Xmx, without -XX:MaxDirectMemorySize"
    enough = f"{-(-buffers.needed // 1024**2)}m"
    yield (
        f"{has} {_text(jvm.direct)} of direct memory ({source}), but {_PROCESSING}buffer.sizeBytes needs {buffers}: "
        f"{who} not start. Set -XX:MaxDirectMemorySize={enough}{option}, or lower sizeBytes or the numbers"
    )


def _larger(what: str, limit: Decimal, jvm: _Jvm, peon: _Jvm | None, tasks: int | None) -> Iterator[str]:
    """Yield a warning if the heap, the direct memory and the tasks together exceed the limit."""
    if jvm.heap is None:
        return
    direct, term = jvm.off_heap(limit)
    total, terms = jvm.heap + direct, f"{_text(jvm.heap)} of heap (-Xmx){term}"
    lower = "-Xmx or -XX:MaxDirectMemorySize" if "-XX" in term else "-Xmx"
    if peon and peon.heap is not None and tasks:
        direct, term = peon.off_heap(limit)
        total += tasks * (peon.heap + direct)
        terms += f" + {tasks} tasks (druid.worker.capacity) x ({_text(peon.heap)} of heap (-Xmx){term})"
        lower = f"druid.worker.capacity, or the memory of a task in {_PEON_OPTIONS}Array"
    if total > limit:
        sum_ = "" if "+" not in terms else f" = {_text(total)}"
        yield (
            f"{what}, but Java can use {terms}{sum_}: the container is killed (OOMKilled, exit code 137) when it does. "
            f"Set a limit of more than {_text(total)}, or lower {lower}"
        )


def _variables(group: Group) -> dict[str, str] | None:
    """Return the environment; None if it, or what the start script does with it, is unknown."""
    if group.first_present("envFrom") or group.cluster.get("startScript") != _SCRIPT:
        return None
    entries = group.first_present("env") or []
    known = {str(entry.get("name")): str(entry.get("value") or "") for entry in entries}
    hidden = {str(entry.get("name")) for entry in entries if entry.get("valueFrom")}
    return {name: _UNKNOWN if name in hidden or "$(" in value else value for name, value in known.items()}


def _server_options(group: Group, variables: Mapping[str, str]) -> str:
    lines = node_configuration(group).files["jvm.config"].splitlines()
    lines = [line for line in lines if line.lstrip()[:1] != "#"]
    for variable, option in _REPLACING.items():
        if value := variables.get(variable):
            lines = [*(line for line in lines if option.rstrip("=") not in line), f"{option}{value}"]
    return "\n".join((*lines, variables.get("JAVA_OPTS", "")))


def _peon_options(settings: Mapping[str, str]) -> str:
    """Return the options of a task; those of the MiddleManager do not apply to it."""
    try:
        several = json.loads(settings.get(f"{_PEON_OPTIONS}Array", "[]"))
        return f"{settings.get(_PEON_OPTIONS, '')} {shlex.join(several)}"
    except (ValueError, TypeError, RecursionError):
        return _UNKNOWN


def _words(options: str, variables: Mapping[str, str]) -> list[str] | None:
    """Return the options in the order in which Java reads them; None if some of them are not known."""
    before, after = ((variables.get(name, "") for name in names) for names in (_BEFORE, _AFTER))
    try:
        words = shlex.split("\n".join((*before, options, *after)))
    except ValueError:
        return None
    return None if any(word.startswith(_UNREAD) for word in words) else words


def _system_properties(words: Iterable[str] | None) -> dict[str, str]:
    """Return the properties in options of Java, which override those in files."""
    pairs = (word[2:].partition("=") for word in words or () if word.startswith("-Ddruid."))
    return {name: value for name, _equals, value in pairs}


def _properties(group: Group, variables: Mapping[str, str]) -> dict[str, str]:
    if any(name.startswith("DRUID_CONFIG_") for name in variables):
        return {}
    # those of the files, which may come from a ConfigMap, too
    common = common_configuration(group.cluster).files["common.runtime.properties"]
    texts = (common, node_configuration(group).files["runtime.properties"])
    specified = {name: value for text in texts for name, value in properties(text or "").items()}
    overriding = {name.replace("_", "."): value for name, value in variables.items() if name.startswith("druid_")}
    return {**specified, **overriding}


def _jvm(words: list[str] | None, settings: Mapping[str, str], server: str) -> _Jvm:
    has_buffers = server in _WITH_BUFFERS
    buffers = _buffers(settings, server) if has_buffers else None
    if words is None:
        return _Jvm(None, None, sets_direct=False, buffers=buffers, has_buffers=has_buffers)
    heap = _java_size(_last(words, _HEAP))
    text = _last(words, _DIRECT)
    direct = _java_size(text)
    # Java takes 0 as not set.
    sets_direct = text is not None and direct != 0
    return _Jvm(heap, direct if sets_direct else heap, sets_direct, buffers, has_buffers)


def _last(words: Iterable[str], options: tuple[str, ...]) -> str | None:
    values = [word[len(option) :] for word in words for option in options if word.startswith(option)]
    return values[-1] if values else None


def _buffers(settings: Mapping[str, str], server: str) -> _Buffers | None:
    """Return the buffers; None if they are unknown, or (the default size) as large as the direct memory allows."""
    # The former name of the size, which wins in Druid 27.
    if "druid.computation.buffer.size" in settings:
        return None
    size = _size(settings.get(f"{_PROCESSING}buffer.sizeBytes"))
    threads = _number(settings.get(f"{_PROCESSING}numThreads"))
    merging = settings.get(f"{_PROCESSING}numMergeBuffers")
    number = _number(merging) if merging is not None else threads and max(2, threads // 4)
    if server == "broker":
        # BrokerProcessingModule does not count the threads.
        return _Buffers(size, None, number) if size and number else None
    return _Buffers(size, threads, number) if size and threads and number else None


def _number(text: str | None) -> int | None:
    return int(text.strip()) if text and _NUMBER.fullmatch(text.strip()) else None


def _java_size(text: str | None) -> int | None:
    # What Java calls 1m is 1Mi of Druid.
    return _size(f"{text}i" if text and text[-1].isalpha() else text)


def _size(text: str | None) -> int | None:
    amount = parse_bytes(text)
    return amount if amount is not None and amount <= _LARGEST else None


def _text(amount: int) -> str:
    text = binary_size(Decimal(amount))
    return text if text.endswith("i") else f"{text} bytes"
