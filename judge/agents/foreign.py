"""Agents without an agent.toml: one program, Gomocup's `pbrain-` programs, and `info` files of the UCC contests."""

import shlex
from pathlib import Path
from typing import Any

from judge.agents.builds import NOT_BUILT, language_of
from judge.agents.manifest import MANIFEST, MAX_TEXT_BYTES, AgentManifest, checked, fit_name
from judge.agents.programs import PREFIX, playable, read_pe, width_of
from judge.agents.python_version import first_line, python_words
from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.base.text import sentence

INFO = "info"
WINE = "wine"
"""Runtime for Windows programs, and its launcher."""
MONO = "mono"
"""As `WINE`, for .NET."""
PYTHON_2 = "python2"
"""As `WINE`, for Python 2."""
ARCHIVES = frozenset({".zip", ".tar", ".tgz", ".txz", ".tzst", ".gz", ".xz", ".zst", ".7z", ".rar"})
"""Only `judge submit` handles them."""


def brains_of(source: Path) -> tuple[str, ...]:
    """The `pbrain-` programs at the top of a directory without a manifest, all of one kind."""
    if not is_directory(source) or any((source / name).exists() for name in (MANIFEST, INFO)):
        return ()
    named = [path for path in source.iterdir() if path.name.startswith(PREFIX) and path.is_file()]
    return tuple(path.name for path in playable(named))


def read_info(path: Path) -> AgentManifest:
    """An `info` file of the UCC contests of 2012 and 2013. Raises InputError naming the line.

    Line 1: the program, relative to the directory, with arguments if the contest allowed them; 2: the author; 3: the
    language; the rest: a description. The directory names the agent.
    """
    words = info_words(path)
    lines = _lines_of(path)
    if not is_file(path.parent / words[0]):
        raise InputError(sentence(f"{path}, line 1: name the program, relative to this directory"))
    author, language = ([*lines[1:3], "", ""])[:2]
    program = manifest_of_program(path.parent / words[0])
    manifest = program.model_copy(
        update={
            "name": fit_name(path.parent.resolve().name),
            "command": (*program.command[:-1], words[0], *words[1:]),
            "author": author.strip(),
            "language": language.strip(),
            "description": "\n".join(lines[3:]).strip(),
        }
    )
    return checked(manifest, path)


def info_words(path: Path) -> list[str]:
    """An `info` file's program and arguments. Raises InputError."""
    try:
        words = shlex.split("".join(_lines_of(path)[:1]))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}, line 1: {error}") from None
    if not words:
        raise InputError(sentence(f"{path}, line 1: name the program, relative to this directory"))
    return words


def _lines_of(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        text = file.read(MAX_TEXT_BYTES + 1)
    if len(text) > MAX_TEXT_BYTES:
        raise ValueError(f"it has more than {MAX_TEXT_BYTES} characters")
    return text.splitlines()


def manifest_of_program(source: Path) -> AgentManifest:
    """The manifest of a single program. Raises InputError."""
    name = fit_name(source.stem)
    with source.open("rb") as stream:
        head = stream.read(128)
    fields: dict[str, Any] = {"name": name, "command": (f"./{source.name}",)}
    if (windows := read_pe(source)) is not None:
        if windows.is_dotnet:
            return AgentManifest(**fields | {"command": (MONO, source.name), "runtime": MONO})
        width_of(source)
        return AgentManifest(**fields | {"command": (WINE, source.name), "runtime": WINE})
    if source.suffix == ".py" or b"python" in first_line(head):
        python, *options = python_words(source)
        runtime = PYTHON_2 if python == "python2" else "python"
        return AgentManifest(**fields | {"command": (python, *options, source.name), "runtime": runtime})
    if source.suffix == ".jar" and head[:4] == b"PK\x03\x04":
        return AgentManifest(**fields | {"command": ("java", "-jar", source.name), "runtime": "java"})
    if head[:4] == b"\x7fELF":
        return AgentManifest(**fields)
    if language := language_of(source):
        raise InputError(sentence(f"{source}: {language}: {NOT_BUILT}"))
    if source.name == MANIFEST:
        raise InputError(sentence(f"{source} describes an agent: name its directory: {source.parent}"))
    if source.suffix.lower() in ARCHIVES:
        raise InputError(
            sentence(f"{source} is an archive: unpack it and name its directory, or give it to judge submit")
        )
    raise InputError(
        sentence(
            f"{source} is no ELF binary, Windows program, .jar or Python program (with the ending .py, or python after "
            f"#! in its first line); for other programs give a directory with an {MANIFEST} that has the command"
        )
    )
