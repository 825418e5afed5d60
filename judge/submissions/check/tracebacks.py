"""Reads the error and its place from an agent's last stderr lines."""

import re
from collections.abc import Sequence

_PYTHON_PLACE = re.compile(r'^File "(?:/agent/)?([^"]+)", line (\d+)')
_PYTHON_ERROR = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration)\b(?::.*)?$")
_JAVA_ERROR = re.compile(r'^(?:Exception in thread "[^"]*" |Caused by: )?((?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b.*)$')
_JAVA_PLACE = re.compile(r"^at [\w$.<>/]+\(([\w$]+\.java):(\d+)\)")
_GO_ERROR = re.compile(r"^(panic: .+|fatal error: .+)$")
_GO_PLACE = re.compile(r"^(?:/agent/)?(\S+\.go):(\d+) \+0x")
_RUST_ERROR = re.compile(r"^thread '[^']*' (?:\(\d+\) )?panicked at (?:'(.*)', )?([^\s:,]+):(\d+):\d+:?$")
_NODE_PLACE = re.compile(r"^(?:file://)?/agent/(\S+?):(\d+)$")
_NODE_ERROR = re.compile(r"^(?:Uncaught )?([A-Z]\w*Error(?: \[\w+\])?: .+)$")
_ASSERTION = re.compile(r"^\S+: (\S+?):(\d+): .*: (Assertion .+ failed)\.?$")
_THROWN = re.compile(r"^terminate called (?:after throwing an instance of '([^']+)'|without an active exception)")
_WHAT = re.compile(r"^what\(\):\s*(.*)$")


def headline(lines: Sequence[str]) -> str:
    """Such as `IndexError: list index out of range in main.py, line 23`, or empty."""
    for read in (_rust, _go, _java, _assertion, _thrown, _node, _python):
        if found := read(lines):
            return found
    return ""


def _at(error: str, place: re.Match[str] | None) -> str:
    return error if place is None else f"{error} in {place[1]}, line {place[2]}"


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    return next((found for line in lines if (found := pattern.match(line.strip()))), None)


def _python(lines: Sequence[str]) -> str:
    errors = [number for number, line in enumerate(lines) if _PYTHON_ERROR.match(line.strip())]
    if not errors:
        return ""
    places = [found for line in lines[: errors[-1]] if (found := _PYTHON_PLACE.match(line.strip()))]
    own = [place for place in places if not place[1].startswith(("/", "<"))] or places
    return _at(lines[errors[-1]].strip(), own[-1]) if places else ""


def _java(lines: Sequence[str]) -> str:
    for number, line in enumerate(lines):
        if (error := _JAVA_ERROR.match(line.strip())) and (place := _first(_JAVA_PLACE, lines[number + 1 :])):
            return _at(error[1], place)
    return ""


def _go(lines: Sequence[str]) -> str:
    error = _first(_GO_ERROR, lines)
    return "" if error is None else _at(error[1], _first(_GO_PLACE, lines))


def _rust(lines: Sequence[str]) -> str:
    for number, line in enumerate(lines):
        if found := _RUST_ERROR.match(line.strip()):
            said = found[1] or (lines[number + 1].strip() if number + 1 < len(lines) else "")
            return f"panic: {said} in {found[2]}, line {found[3]}"
    return ""


def _node(lines: Sequence[str]) -> str:
    error, place = _first(_NODE_ERROR, lines), _first(_NODE_PLACE, lines)
    return "" if error is None or place is None else _at(error[1], place)


def _assertion(lines: Sequence[str]) -> str:
    found = _first(_ASSERTION, lines)
    return "" if found is None else f"{found[3]} in {found[1]}, line {found[2]}"


def _thrown(lines: Sequence[str]) -> str:
    found = _first(_THROWN, lines)
    if found is None:
        return ""
    what = _first(_WHAT, lines)
    return ": ".join(filter(None, (found[1] or found[0], what[1] if what else "")))
