"""Summarises a failed build's log."""

import re
from pathlib import Path

from judge.base.bookkeeping import own_paths
from judge.base.text import printable, sentence
from judge.submissions.path_checks import shown

PYTHON_2 = sentence(
    "it is Python 2: write it for Python 3, or, where the contest's policy admits the runtime python2, begin it with "
    '#!/usr/bin/python2 or set in agent.toml: runtime = "python2"'
)
PYTHON_2_ERROR = (
    r"SyntaxError: (?:[^:\n]{1,300}, line \d+: )?(?:Missing parentheses in call to '(?:print|exec)'"
    r"|multiple exception types must be parenthesized|leading zeros in decimal)"
)

_NOT_IN_REPOSITORY = sentence(
    "there is no network, and Maven has the distribution's plugins: leave out the versions of plugins, or run "
    "`mvn -Dmaven.repo.local=repository package`, and send repository/ too"
)

_ERROR = re.compile(
    r"(?i)(?:\berror(?:\[\w+\])?:|\bundefined reference to\b|^\w*Error: |^\[ERROR\] (?!COMPILATION ERROR))"
)
_FAILED = re.compile(
    r"^make: \*\*\* (?!\[)|: (?:command )?not found$|: (?:No such file or directory|Permission denied)$"
)

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF16_READ = re.compile(
    r"(?i)stray .{0,20}377|null (?:character|byte)|unmappable|illegal char|valid UTF-8|non-UTF-8|invalid"
)

_NO_TOOL = re.compile(r"(?m)^(?:\S*sh: (?:line )?\d+|make): ([\w+-]+): (?:(?:command )?not found|No such file)")

_KINDS = {
    "cmake": "cmake",
    "cargo": "cargo",
    "mvn": "maven",
    "go": "go",
    "fpc": "pascal",
    "mcs": "c#",
    "clang": "clang",
    "clang++": "clang",
}

_HEADER = re.compile(r"fatal error: ((?:[\w+-][\w.+-]*/)*[\w+-][\w.+-]*): No such file")
_WINDOWS = ("windows.h", "conio.h", "tchar.h", "stdafx.h", "direct.h", "process.h")
_KNOWN = (
    (r"unmappable character", '[build] flags = ["-encoding", "ISO-8859-1"]'),
    (PYTHON_2_ERROR, PYTHON_2),
    (
        r"no matching package named",
        sentence("crates that were not sent are needed: run `cargo vendor`, and send vendor/ too"),
    ),
    (
        r"(?i)Could not (?:resolve|find) .{0,200}?artifact|Plugin \S+ or one of its dependencies could not be resolved",
        _NOT_IN_REPOSITORY,
    ),
    (
        r"error\[E0658\]|edition 2024|let\.\.\.else",
        sentence("the rustc here is older: write it for an older one"),
    ),
)
_JAVA_PACKAGE = re.compile(r"(?m)(?:error:|\[ERROR\] .{0,300}?\]) package ([\w.]+) does not exist")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".rs", ".java", ".py")
_LOOKED_AT = 2000


def first_error(log: str) -> str:
    """Or make's first failed step; may be empty."""
    lines = [line.strip() for line in log.split("\n")]
    found = (line for pattern in (_ERROR, _FAILED) for line in lines if pattern.search(line))
    return printable(next(found, ""), 200)


def advice(log: str, tree: Path) -> str:
    """Empty if the cause is unknown."""
    if _UTF16_READ.search(log) and (path := _utf16_source(tree)):
        return sentence(f"{shown(path)} is UTF-16: save it as UTF-8")
    if found := _NO_TOOL.search(log):
        name = printable(found[1], 60)
        if kind := _KINDS.get(name):
            return sentence(
                f'{name} is missing for make: leave the Makefile out, or set in agent.toml [build] kind = "{kind}"'
            )
        if name == "pyinstaller":
            return sentence("a Python program is not built: send it without the Makefile")
        return sentence(f"{name} is missing: send the sources that make it")
    for pattern, fix in _KNOWN:
        if re.search(pattern, log):
            return fix
    if found := _HEADER.search(log):
        return _of_header(found[1], tree)
    if found := _JAVA_PACKAGE.search(log):
        name = printable(found[1], 60)
        return sentence(
            f"{name} is missing in Java and in the upload: send its .jar files with the sources (Maven: "
            "mvn dependency:copy-dependencies -DoutputDirectory=lib)"
        )
    return ""


def _of_header(name: str, tree: Path) -> str:
    if name.lower() in _WINDOWS:
        return sentence(f"{name} belongs to Windows: send the .exe, or sources for Linux")
    found = (f"/{path.relative_to(tree).as_posix()}" for path in tree.rglob(Path(name).name))
    for path in sorted(path for path in found if path.endswith(f"/{name}"))[:1]:
        folder = path.removesuffix(f"/{name}").removeprefix("/")
        return sentence(f'{shown(name)} is there, but not where it is looked for: [build] flags = ["-I./{folder}"]')
    return sentence(f"{shown(name)} is missing here and in the upload: send it with the sources")


def _utf16_source(tree: Path) -> str:
    sources = (path for path in own_paths(tree) if path.suffix.lower() in _SOURCES)
    for _, path in zip(range(_LOOKED_AT), sources, strict=False):
        with path.open("rb") as file:
            if file.read(2) in _UTF16:
                return path.relative_to(tree).as_posix()
    return ""
