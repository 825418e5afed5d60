"""The agent.toml of an agent, and what replaces it: one program, Gomocup's `pbrain-` programs, and `info` files of the
UCC contests.
"""

import json
import re
import shlex
import unicodedata
from pathlib import Path
from typing import Annotated, Any, Literal

from anyascii import anyascii
from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from judge.agents.builds import NOT_BUILT, BuildTable, language_of
from judge.agents.program_files import file_inside
from judge.agents.programs import PREFIX, playable, read_pe, width_of
from judge.agents.python_version import first_line, python_words
from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.base.parsing import FrozenModel, parse
from judge.base.text import is_printable, quote, sentence
from judge.base.toml_files import parse as parse_toml
from judge.base.toml_files import read_text, slashes, words_in
from judge.protocols import PERSON, protocol_entry
from judge.sandbox.box import WINE

MANIFEST = "agent.toml"
INFO = "info"
MONO = "mono"
"""Runtime for .NET programs, and its launcher."""
PYTHON_2 = "python2"
"""As `MONO`, for Python 2."""
ARCHIVES = frozenset({".zip", ".tar", ".tgz", ".txz", ".tzst", ".gz", ".xz", ".zst", ".7z", ".rar"})
"""Only `judge submit` handles them."""
MAX_TEXT_BYTES = 1 << 16
"""Size limit of agent.toml and `info` files."""
MAX_WORDS = 256
"""Limit in a command or in `[build]` flags."""
MAX_WORD_BYTES = 4096
"""Bytes per word, as for paths."""
MAX_CHARACTERS = 8192
"""Limit without `[build]`, as JSON: an entry of a contest contains it."""
MAX_OPTIONS = 100
"""Engine options in an agent.toml."""
MAX_OPTION_NAME = 100
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


def _option_name(name: str) -> str:
    if not name.strip() or len(name) > MAX_OPTION_NAME or not is_printable(name):
        raise ValueError(f"write a printable name of at most {MAX_OPTION_NAME} characters")
    return name


def _option_value(value: object) -> object:
    if isinstance(value, str | bool) or (isinstance(value, int) and value.bit_length() < 64):
        return value
    raise ValueError("write a text in quotes, a whole number of at most 64 bits, true or false")


OptionName = Annotated[str, AfterValidator(_option_name)]
OptionValue = Annotated[StrictBool | StrictInt | StrictStr, BeforeValidator(_option_value)]


class AgentManifest(FrozenModel):
    """The content of an agent.toml."""

    name: str
    command: tuple[str, ...] = Field(min_length=1)
    runtime: str = "native"
    """Must be admitted by the policy."""
    protocol: str = ""
    """Empty: the policy's protocol."""
    line_ending: Literal["crlf", "lf"] | None = None
    options: dict[OptionName, OptionValue] = Field(
        default_factory=dict, max_length=MAX_OPTIONS, exclude_if=lambda options: not options
    )
    """Options of the engine; the protocol must have such options."""
    author: str = ""
    language: str = ""
    description: str = ""
    build: BuildTable | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_text(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if isinstance(command := data.get("command"), str):
            words = json.dumps(command.split(), ensure_ascii=False)
            fix = sentence(f"command: write a list with a text for each word: command = {words}")
            raise ValueError(fix)  # noqa: TRY004 pydantic wants it
        return data


class SentManifest(AgentManifest):
    """An agent.toml with `[build]`, which determines the rest."""

    name: str = ""
    command: tuple[str, ...] = ()


def read_manifest(path: Path) -> AgentManifest:
    """Raises InputError naming the file, the key and the fix."""
    return checked(parse(AgentManifest, _document(path), str(path)), path)


def read_sent_manifest(path: Path) -> AgentManifest:
    """As `read_manifest`: with `[build]` and no command, the name may be missing."""
    document = _document(path)
    if "build" not in document or "command" in document:
        return read_manifest(path)
    sent = parse(SentManifest, document, str(path))
    checked(sent.model_copy(update={"name": sent.name or "unnamed"}), path)
    return sent


def _document(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(sentence(f"{path} is missing: an agent's directory needs an {MANIFEST}"))
    if not is_file(path):
        raise InputError(sentence(f"{path}: it is no file: an agent's directory needs an {MANIFEST}"))
    return parse_toml(path, manifest_text(path))


def manifest_text(path: Path) -> str:
    """Text without byte order mark. Raises InputError."""
    return read_text(path, "an agent.toml", MAX_TEXT_BYTES)


def _refuse_odd_words(manifest: AgentManifest, path: Path) -> None:
    """Such words make the start fail, which looks like a host failure."""
    for field, word in words_in(manifest.model_dump(exclude={"description"})):
        odd = next((c for c in word if unicodedata.category(c) == "Cc"), "")
        if odd:
            fix = sentence("write it without")
            if odd in "\b\t\n\f\r":
                shown = slashes(word)
                fix = sentence(f'a backslash in "…" begins an escape; between directories write /: {quote(shown, 80)}')
            raise InputError(sentence(f"{path}: {field}: it has the control character U+{ord(odd):04X}: {fix}"))
        if len(word.encode()) > MAX_WORD_BYTES:
            raise InputError(sentence(f"{path}: {field}: it is longer than {MAX_WORD_BYTES} bytes: put it in a file"))
    for field, words in (
        ("command", manifest.command),
        ("build.flags", manifest.build.flags if manifest.build else ()),
    ):
        if len(words) > MAX_WORDS:
            raise InputError(sentence(f"{path}: {field}: it has more than {MAX_WORDS} words"))
    first = next(iter(manifest.command), "./")
    if len(parts := first.split()) != 1 and file_inside(path.parent, first) is None:
        fix = quote(json.dumps([*parts, *manifest.command[1:]], ensure_ascii=False), 200)[1:-1]
        shown = quote(first, 80)
        raise InputError(sentence(f"{path}: command: {shown} is no program: no shell reads it, write command = {fix}"))
    if "\0" in manifest.description:
        raise InputError(sentence(f"{path}: description: it has the control character U+0000"))


def checked(manifest: AgentManifest, path: Path) -> AgentManifest:
    """Raises InputError for values that the model admits, but no agent may have."""
    if not is_name(manifest.name):
        raise InputError(
            sentence(
                f"{path}: name {manifest.name!r}: only A-Z, a-z, 0-9, dash, underscore and dot, "
                "1 to 64 of them, no dot first"
            )
        )
    _refuse_odd_words(manifest, path)
    if len(manifest.model_dump_json(exclude={"build"})) > MAX_CHARACTERS:
        raise InputError(
            sentence(
                f"{path}: it has more than {MAX_CHARACTERS} characters: shorten its command, options and description"
            )
        )
    if manifest.protocol in ("file", "gomocup-file"):
        raise InputError(
            sentence(
                f"{path}: the old protocol by files is not supported: the agent must speak the pipe protocol (gomocup)"
            )
        )
    if manifest.protocol == PERSON:
        raise InputError(sentence(f"{path}: protocol {PERSON!r} is that of a person, not of a program"))
    if manifest.protocol:
        try:
            protocol_entry(manifest.protocol)
        except InputError as error:
            raise InputError(f"{path}: protocol: {error}") from None
    return manifest


def refuse_misnamed_manifest(source: Path) -> None:
    """Raises InputError for a misspelt agent.toml."""
    if (source / MANIFEST).exists() or not source.is_dir():
        return
    for path in sorted(source.iterdir()):
        lower = path.name.lower()
        if path.is_file() and (lower in (MANIFEST, f"{MANIFEST}.txt")):
            hidden = "; Windows hides such endings" if lower.endswith(".txt") else ""
            raise InputError(
                sentence(f"{source / MANIFEST} is missing: there is {path.name}: call it {MANIFEST}{hidden}")
            )


def is_name(text: str) -> bool:
    """Whether an agent name is valid."""
    return NAME.fullmatch(text) is not None


def fit_name(text: str) -> str:
    """Make a valid agent name."""
    return derived_name(text) or "agent"


def derived_name(text: str) -> str:
    """Such as `WuZiQi` for `五子棋`; empty without letters."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", text)
    if not text.isascii():
        latin = anyascii(unicodedata.normalize("NFC", text))
        name = re.sub(r"[^A-Za-z0-9._-]+", "_", latin).strip("_")
    name = name.lstrip(".")[:64]
    return name if re.search("[A-Za-z0-9]", name) else ""


# --- without an agent.toml -------------------------------------------------------------------------------------------


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
    file = file_inside(path.parent, words[0])
    if file is None:
        raise InputError(sentence(f"{path}, line 1: name the program, relative to this directory"))
    author, language = ([*lines[1:3], "", ""])[:2]
    program = manifest_of_program(file)
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
    if (windows := read_pe(source)) is not None:
        if not windows.is_dotnet:
            width_of(source)
        launcher = MONO if windows.is_dotnet else WINE
        return AgentManifest(name=name, command=(launcher, source.name), runtime=launcher)
    if source.suffix == ".py" or b"python" in first_line(head):
        python, *options = python_words(source)
        runtime = PYTHON_2 if python == "python2" else "python"
        return AgentManifest(name=name, command=(python, *options, source.name), runtime=runtime)
    if source.suffix == ".jar" and head[:4] == b"PK\x03\x04":
        return AgentManifest(name=name, command=("java", "-jar", source.name), runtime="java")
    if head[:4] == b"\x7fELF":
        return AgentManifest(name=name, command=(f"./{source.name}",))
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
