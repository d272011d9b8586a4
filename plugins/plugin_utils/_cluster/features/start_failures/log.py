# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why Druid has ended, or does not become ready, from the end of its log. Pure.

The text is foreign: only short lines without control characters are searched, with patterns whose time is linear. The
result has no times, addresses of memory or numbers of attempts, so that it is the same after the next start.

The formats are those of Druid 27 and 33 (Guice 4.2 and 5.1), of Java 17, and of the start script of the image.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

# Longer lines are class paths, and specifications.
_MAX_LINE_CHARACTERS = 1000
_MAX_STATEMENT_CHARACTERS = 300
# Of a process that has printed no exception.
_LAST_LINES = 30

_Match = re.Match[str]


class _Known(NamedTuple):
    """What a line means, and what to do."""

    pattern: re.Pattern[str]
    sentence: Callable[[_Match], str]


def _known(pattern: str, sentence: Callable[[_Match], str]) -> _Known:
    return _Known(re.compile(pattern), sentence)


def _as_printed(match: _Match) -> str:
    return match[0].strip()


# The JVM itself, and the start script: they print these lines before there is a log.
_OF_JAVA = (
    _known(
        r"^Unrecognized (?:VM )?option:? '?([^'\s]{1,200})",
        lambda found: f"Java does not know the option {found[1]}: remove it from the options of the JVM",
    ),
    _known(
        r"^VM option '([^']{1,200})' is experimental|^VM option '([^']{1,200})' is diagnostic",
        lambda found: f"Java does not accept the option {found[1] or found[2]} without one that unlocks it",
    ),
    _known(
        r"^Error opening zip file or JAR manifest missing : (\S{1,300})",
        lambda found: f"the file {found[1]}, which -javaagent names, is not in the container",
    ),
    _known(
        r"^Error: (?:could not open|Could not find agent library) .{1,300}|^Could not find agent library .{1,300}",
        _as_printed,
    ),
    _known(
        r"^(?:Initial heap size set to a larger value than the maximum heap size|Too small .{1,100} heap.{0,100}"
        r"|Invalid (?:maximum|initial) .{1,200}|Improperly specified VM option .{1,200}"
        r"|Conflicting collector combinations in option list.{0,200}|Could not reserve enough space for .{1,100})",
        lambda found: f"Java refuses its options: {found[0].rstrip('.')}",
    ),
    _known(
        r"^Error: Could not find or load main class (\S{1,200})",
        lambda found: f"Java does not find the class {found[1]}: check image, command and working directory",
    ),
    _known(
        r"UnsupportedClassVersionError: (\S{1,200}) .{0,200}class file version (\d{1,3}).{0,200} up to (\d{1,3})",
        lambda found: (
            f"the class {found[1].replace('/', '.')} needs Java {int(found[2]) - 44} or newer, "
            f"and this is Java {int(found[3]) - 44}"
        ),
    ),
    _known(
        r"^(?:Terminating due to |Aborting due to )?java\.lang\.OutOfMemoryError: (.{1,200})",
        lambda found: (
            f"Java has run out of memory ({found[1]}): raise -Xmx"
            if "heap" in found[1]
            else f"Java has run out of memory ({found[1]})"
        ),
    ),
    _known(
        r"^(?:\S{1,200}: line \d{1,6}: |mkdir: |cp: |touch: |chmod: |sed: |cat: |mv: |exec: )[^\n]{1,300}"
        r"(?:No such file or directory|Permission denied|Read-only file system|No space left on device"
        r"|not found|unbound variable|cannot execute.{0,100})$",
        lambda found: re.sub(r"^(\S{1,200}): line \d{1,6}: ", r"\1: ", found[0]),
    ),
)
_PROCESSING = "druid.processing.buffer.sizeBytes, numThreads and numMergeBuffers"
# Parts of exceptions.
_OF_DRUID = (
    _known(
        r"Not enough direct memory\..{0,300}maxDirectMemory\[([\d,]{1,30})\], memoryNeeded\[([\d,]{1,30})\]",
        lambda found: (
            f"not enough direct memory: Java has {found[1]} bytes, and the processing buffers need {found[2]}. "
            f"Raise -XX:MaxDirectMemorySize, or lower {_PROCESSING}"
        ),
    ),
    _known(
        r"Problem parsing object at prefix\[([\w.]{1,200})\]: (.{1,300}?)(?: at \[Source.{0,200}"
        r"\[\"([^\"]{1,100})\"\]\)\.?)?$",
        lambda found: f"{'.'.join(filter(None, (found[1], found[3])))} is invalid: {found[2].rstrip('. ')}",
    ),
    _known(
        r"Extension \[(\S{1,300})\] specified in \"([\w.]{1,100})\" didn't exist",
        lambda found: f"{found[2]} names an extension that is not in the image ({found[1]})",
    ),
    _known(
        r"Unknown provider ?\[(.{0,100}?)\] of Key\[type=(?:[\w$]{1,100}\.){0,20}([\w$]{1,100})(?=[,\]])"
        r"(?:.{0,200}, known options ?\[(.{0,200})\])?",
        lambda found: (
            f"Druid does not know the type {found[1]} of {found[2]} (known: {(found[3] or '').strip('[]') or 'none'}): "
            "check its spelling, and that druid.extensions.loadList names the extension with it"
        ),
    ),
    _known(
        r"Unknown emitter type\[([\w.]{1,100})\]=\[([^\]]{0,100})\], known types\[\[?([^\]]{0,300})",
        lambda found: (
            f"{found[1]} has the unknown type {found[2]} (known: {found[3]}): check its spelling, and "
            "that druid.extensions.loadList names the extension with it"
        ),
    ),
    _known(
        r"Failed to bind to (?:[^\s:]{1,100}):(\d{1,5})",
        lambda found: f"port {found[1]} is in use by another process of the pod, or by the same one",
    ),
    _known(
        r"Cannot create PoolableConnectionFactory \((.{1,300})\)",
        lambda found: f"the metadata store refuses the connection, or cannot be reached: {found[1].rstrip('.')}",
    ),
    _known(
        r"No space left on device|Disk quota exceeded",
        lambda found: f"a disk is full ({found[0]}): enlarge its volume",
    ),
    _known(
        r"(?:(?:Cannot|Failed to) create directory|mkdir failed for|Unable to create .{0,40}director\w{1,3})"
        r" ?.{0,10}\[([^\]]{1,300})\]",
        lambda found: f"the directory {found[1]} cannot be created: check its volume, and the user of the pod",
    ),
    _known(
        r"AccessDeniedException: (\S{1,300})|(?<!\S)(\S{1,300}) \(Permission denied\)",
        lambda found: f"no permission for {found[1] or found[2]}: check its volume, and the user of the pod",
    ),
    _known(
        r"NoSuchFileException: (\S{1,300})|(?<!\S)(\S{1,300}) \(No such file or directory\)",
        lambda found: f"the file {found[1] or found[2]} does not exist",
    ),
    _known(
        r"(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$/]{1,300})",
        lambda found: (
            f"the class {found[1].replace('/', '.')} is in no jar: check the spelling, and "
            "that druid.extensions.loadList names the extension with it"
        ),
    ),
    _known(
        r"InaccessibleObjectException: (.{1,300})",
        lambda found: f"Java needs an option --add-opens: {found[1]}",
    ),
)

_FATAL = re.compile(r'Error when starting up|^Exception in thread "main"|^Error: |Failing\.$')
# The second and the last line of a list of Guice: its other problems may be consequences of the first one.
_NEXT_ITEM, _END_OF_ITEMS = re.compile(r"^\s{0,8}2\) "), re.compile(r"^\d{1,6} errors?$")
_IN_PROVIDER = re.compile(r"^Error (?:in custom provider|injecting (?:constructor|method)), ")
_LOCATING = re.compile(r"^\s{1,20}while locating (?:[\w$]{1,100}\.){0,20}([\w$]{1,100})")
# The first problem in a list of Guice, the cause of an exception, and an exception without either.
_ITEM = re.compile(r"^\s{0,8}1\) (?:\[Guice/\w{1,60}\]: )?(.{1,1000})")
_CAUSE = re.compile(r"^Caused by: (.{1,1000})")
_HEAD = re.compile(r'^(?:Exception in thread "main" )?((?:[a-z]\w{0,60}\.){1,20}[A-Z][\w$]{0,100}(?:: .{1,1000})?)$')
_CONTINUED = re.compile(r"^ ?at \[Source")
# What only wraps another one.
_WRAPPERS = re.compile(
    r"^(?:[\w.]{1,200}\.)?(?:(?:Provision|Creation|InvocationTarget|Runtime)Exception|RE|ISE)\b(?!: [^:]{1,200}$)"
    r"|(?:Unable to provision|Unable to create injector), see the following errors|server initialization exception"
    r"|(?:Exception|RE|ISE|IAE|IOE)(?:: null)?$"
)
_PACKAGES = re.compile(r"\b(?:[a-z]\w{0,60}\.){1,20}(?=[A-Z]\w{0,100}(?:Exception|Error)\b)")
_CHANGING = re.compile(r"@[0-9a-f]{5,16}\b|/0x[0-9a-f]{8,16}\b")
# Times and durations, of which three dots are left.
_TIMES = re.compile(
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b\d{1,15}(?:\.\d{1,9})?(?= ?(?:ms|millis|milliseconds?|s|secs?|seconds?|minutes?)\b)"
)

_PORTS = re.compile(r"Started ServerConnector@\w{1,20}\{[^{}]{0,60}\}\{[^{}]{0,60}?:(\d{1,5})\}")
# What Druid tries again and again, before it serves.
_ATTEMPT = re.compile(r"RetryUtils - .{0,100}[Rr]etrying \(\d")
# What the client of ZooKeeper, and the library above it, report: the last one counts.
_ZOOKEEPER = re.compile(
    r"(?P<connected>Session establishment complete|State change: (?:CONNECTED|RECONNECTED))"
    r"|Unable to resolve address: (?P<unknown>[^\s/]{1,253})/"
    r"|Session 0x\w{1,20} for (?:server|sever) (?P<server>\S{1,300}?),? .{0,200}(?:Attempting reconnect|Closing socket)"
    r"|Connection timed out for connection string \((?P<timeout>[^)]{1,300})\)"
)

_ADDRESS = re.compile(r"([^/]{1,253})/.{0,100}:(?=\d{1,5}$)")


def reason_of_end(text: str, masked: Callable[[str], str]) -> str:
    """Return why a process has ended, from the end of what it has printed; empty if that does not say it."""
    lines = _lines(text, masked)
    start = max((number for number, line in enumerate(lines) if _FATAL.search(line)), default=None)
    statements = [] if start is None else [*_statements(lines[start:])]
    exception = _first(_OF_JAVA, lines[-_LAST_LINES:]) or _first(_OF_DRUID, statements[::-1])
    if exception or not statements:
        return exception or obstacle(text, masked, ())
    cause = ([statement for statement in statements if not _WRAPPERS.search(statement)] or statements)[-1]
    # the same with what has failed because of it
    return f"its log has: {_short(next(statement for statement in statements if statement.startswith(cause)))}"


def obstacle(text: str, masked: Callable[[str], str], ports: Sequence[int]) -> str:
    """Return what keeps a process from being ready that runs, and whose probes ask these ports; empty if unknown."""
    lines = _lines(text, masked)
    listening = [int(served[1]) for line in lines if (served := _PORTS.search(line))]
    if listening and ports and not set(ports) & set(listening):
        asked, own = (", ".join(map(str, sorted({*each}))) for each in (ports, listening))
        return f"Druid listens on port {own}, but its probe asks port {asked}: set druid.port of the group to this port"
    attempt = max((number for number, line in enumerate(lines) if _ATTEMPT.search(line)), default=None)
    tried = [] if attempt is None or any(map(_PORTS.search, lines[attempt:])) else lines[attempt:]
    if unreachable := _first(_OF_DRUID, [*_statements(tried)]):
        return unreachable
    states = [state for line in lines if (state := _ZOOKEEPER.search(line))]
    if not states or states[-1]["connected"]:
        return ""
    unknown = next((each["unknown"] for each in reversed(states) if each["unknown"]), None)
    # A name, with the address to which it was resolved.
    server = _ADDRESS.sub(r"\1:", states[-1]["server"] or states[-1]["timeout"] or "")
    where = f"the name {unknown} is not known" if unknown else f"no connection to {server}"
    return f"ZooKeeper cannot be reached ({where}): check druid.zk.service.host, and that ZooKeeper runs"


def _lines(text: str, masked: Callable[[str], str]) -> list[str]:
    """Return the lines, masked as a whole, as part of a secret would not be recognized; the last one may be cut."""
    return [_printable(line[:_MAX_LINE_CHARACTERS].rstrip()) for line in masked(text).splitlines()]


def _printable(line: str) -> str:
    return line if line.isprintable() else "".join(each if each.isprintable() else " " for each in line)


def _statements(lines: Sequence[str]) -> Iterator[str]:
    """Yield the messages of an exception and its causes, the outermost first."""
    is_skipped = False
    for number, line in enumerate(lines):
        is_skipped = (is_skipped or bool(_NEXT_ITEM.match(line))) and not _END_OF_ITEMS.match(line)
        match = None if is_skipped else _ITEM.match(line) or _CAUSE.match(line) or _HEAD.match(line)
        if match:
            following = lines[number + 1] if number + 1 < len(lines) else ""
            text = f"{match[1]}{following}" if _CONTINUED.match(following) else match[1]
            yield f"{_IN_PROVIDER.sub('', text)}{_where(lines[number:])}" if _IN_PROVIDER.match(text) else text


def _where(lines: Sequence[str]) -> str:
    """Return the class whose creation has failed, as the error itself may name none."""
    located = next((found for line in lines[:_LAST_LINES] if (found := _LOCATING.match(line))), None)
    return f" (of {located[1]})" if located else ""


def _first(known: Sequence[_Known], lines: Sequence[str]) -> str:
    """Return the sentence for the first line that one of these matches, the first one of several."""
    sentences = (each.sentence(match) for line in lines for each in known if (match := each.pattern.search(line)))
    return _short(next(sentences, ""))


def _short(text: str) -> str:
    text = " ".join(_TIMES.sub("...", _CHANGING.sub("", _PACKAGES.sub("", text))).split())
    return text if len(text) <= _MAX_STATEMENT_CHARACTERS else f"{text[: _MAX_STATEMENT_CHARACTERS - 3]}..."
