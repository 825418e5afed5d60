"""Stages agents by name or path, and checks the manifest.

An agent plays from a copy of its directory, identified by its digest.
"""

import json
import re
import shlex
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from anyascii import anyascii
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)

from judge.agents.builds import NOT_BUILT, BuildTable, language_of
from judge.agents.program_files import copy_directory, copy_file, new_directory, program_digest, similar_path
from judge.agents.programs import (
    PREFIX,
    ProgramKind,
    brain_name,
    choose_executable,
    is_dotnet,
    is_lfs_pointer,
    is_windows_program,
    kind_of,
    own_name,
    playable,
    width_of,
)
from judge.agents.python_version import first_line, python_words
from judge.base.bookkeeping import own_paths
from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.base.parsing import parse
from judge.base.resources import BUILD_DIRECTORY, IMAGES
from judge.base.text import is_printable, nearest, quote, sentence
from judge.base.toml_files import parse as parse_toml
from judge.base.toml_files import read_text, slashes, words_in
from judge.games import new_game
from judge.host.house_agents import house_agent_names
from judge.protocols import PERSON, protocol_entry
from judge.referee.policy import Policy, runtime_of
from judge.referee.spec import SeatSpec

ME = "me"
"""A human player."""
PERSONS = (ME, "human", "@human")
"""Humans; a program with such a file name needs a path."""
MANIFEST = "agent.toml"
_NEAR_MANIFEST = frozenset(
    {f"{MANIFEST}.txt", f"{MANIFEST}.toml", f"{MANIFEST}.tml", "agents.toml", "agent.tml", "agent.toml_", "agent-toml"}
)
INFO = "info"
WINE = "wine"
"""Runtime for Windows programs, and its launcher."""
MONO = "mono"
"""As `WINE`, for .NET."""
PYTHON_2 = "python2"
"""As `WINE`, for Python 2."""
ARCHIVES = frozenset({".zip", ".tar", ".tgz", ".txz", ".tzst", ".gz", ".xz", ".zst", ".7z", ".rar"})
"""Only `judge submit` handles them."""
MAX_TEXT_BYTES = 1 << 16
"""Size limit of agent.toml and `info` files."""
MAX_WORDS = 256
"""Limit in a command or in `[build]` flags."""
MAX_WORD_BYTES = 4096
"""Bytes per word, as for paths."""
MAX_OPTIONS = 100
"""Engine options in an agent.toml."""
MAX_OPTION_NAME = 100
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


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


class AgentManifest(BaseModel):
    """The content of an agent.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    def _refuse_misplaced(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if isinstance(command := data.get("command"), str):
            words = json.dumps(command.split(), ensure_ascii=False)
            fix = sentence(f"command: write a list with a text for each word: command = {words}")
            raise ValueError(fix)  # noqa: TRY004 pydantic wants it
        options = data.get("options")
        if isinstance(options, dict):
            for key in ("name", "command"):
                if key in options and key not in data:
                    raise ValueError(sentence(f"options.{key}: write {key} above the line [options]"))
        return data


class SentManifest(AgentManifest):
    """An agent.toml with `[build]`, which determines the rest."""

    name: str = ""
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Agent:
    """A staged agent."""

    manifest: AgentManifest
    program: Path
    digest: str
    executables: tuple[str, ...] = ()
    """Programs without a manifest; the game selects one."""
    own_name: str = ""
    """Name in its files, if a contest renamed it."""

    def calls_itself(self, policy: Policy) -> str:
        """Its own name, also that of its temporary folder: from its `pbrain-` program, else from its files, never the
        contest's.
        """
        called = own_name(self._command(policy))
        return fit_name(called) if called else self.own_name or self.manifest.name

    def seat(self, policy: Policy) -> SeatSpec:
        """Raises InputError if the policy does not admit its runtime."""
        manifest = self.manifest
        options: dict[str, Any] = {} if manifest.line_ending is None else {"line_ending": manifest.line_ending}
        try:
            runtime = runtime_of(policy, manifest.runtime)
        except InputError as error:
            raise InputError(f"{manifest.name}: {error}") from None
        protocol = manifest.protocol or policy.game.protocol
        if manifest.options:
            options[_options_field(manifest, protocol, policy)] = dict(manifest.options)
        return SeatSpec(
            name=manifest.name,
            digest=self.digest,
            command=self._command(policy),
            runtime=runtime,
            protocol=protocol,
            protocol_options=options,
            author=manifest.author,
        )

    def _command(self, policy: Policy) -> tuple[str, ...]:
        if not self.executables:
            return self.manifest.command
        game = new_game(policy.game.name, policy.game.options).describe()
        rule, size = str(game.get("rule", "")), int(game.get("width", 0))
        return (*self.manifest.command[:-1], f"./{choose_executable(self.executables, rule, size)}")


def _options_field(manifest: AgentManifest, protocol: str, policy: Policy) -> str:
    entry = protocol_entry(protocol)
    place = f"{manifest.name}: {MANIFEST}: options"
    if not entry.agent_options:
        raise InputError(sentence(f"{place}: the protocol {protocol} has no engine options; remove the section"))
    memory_bytes = policy.limits.cap_bytes
    known: set[str] = set()
    for name, value in manifest.options.items():
        kind = name.lower()
        if kind in known:
            raise InputError(
                sentence(f"{place}.{name}: the option is there twice, as names differ in case only; remove one")
            )
        known.add(kind)
        limit, unit, words = policy.limits.threads, 1, "limits.threads"
        if kind in entry.memory_options:
            unit = entry.memory_options[kind]
            limit, words = memory_bytes // unit, "memory limit"
        elif kind not in entry.thread_options:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(
                sentence(f"{place}.{name}: {quote(str(value), 40)} is no whole number; write such as {name} = 1")
            )
        if value > limit:
            raise InputError(sentence(f"{place}.{name}: {value} is above the policy's {words} of {limit}; lower it"))
    return entry.agent_options


def stage_agent(named: str, staging: Path) -> Agent:
    """Copy the agent `named` into a new directory below `staging`.

    `named` is a house agent, a path to one executable, or a directory with an agent.toml, an `info` file of the UCC
    contests, or a Gomocup archive's `pbrain-` programs. Raises InputError.
    """
    manifest, source = manifest_of(named)
    brains = brains_of(source)
    if is_directory(source):
        program = copy_directory(source, new_directory(staging, manifest.name))
    else:
        program = new_directory(staging, manifest.name)
        copy_file(source, program / source.name, is_executable=True)
    return Agent(manifest, program, program_digest(program), brains)


def manifest_of(named: str) -> tuple[AgentManifest, Path]:
    """Manifest and place of an agent. Raises InputError."""
    refuse_person(named)
    source = Path(named)
    if named in house_agent_names():
        source = BUILD_DIRECTORY / named
        if not is_directory(source):
            raise InputError(f"house agent {named} is not built yet; run: judge images build")
    if is_directory(source):
        return _manifest_of_directory(source), source
    if is_file(source):
        return _manifest_of_file(source), source
    raise agent_not_found(named)


def agent_not_found(named: str) -> InputError:
    """Return the error."""
    if "/" in named or named.lower().endswith((".py", ".jar", ".exe", ".zip")):
        return InputError(
            f"there is no file or directory {quote(named, 200)}: correct the path, or name a house agent (judge agents "
            "list)"
        )
    if named.startswith("starter-") and (IMAGES / named).is_dir():
        return InputError(f"{named} is a starter: copy it (cp -r {IMAGES / named} mine), and give the copy as ./mine")
    near = nearest(named, house_agent_names()) or ["house-strong"]
    return InputError(
        f"unknown agent {named!r}: give the path of an executable, a directory with "
        f"an {MANIFEST}, or a house agent such as {near[0]} (judge agents list)"
    )


def refuse_person(named: str) -> None:
    """Raises InputError for a human."""
    if named.lower() in PERSONS:
        raise InputError(
            f"{named}: a person plays only in `judge match`, and is called {ME} there: judge match {ME} AGENT; "
            f"elsewhere agents are programs (one in a file of that name is ./{named})"
        )


def read_manifest(path: Path) -> AgentManifest:
    """Raises InputError naming the file, the key and the fix."""
    return _checked(parse(AgentManifest, _document(path), str(path)), path)


def read_sent_manifest(path: Path) -> AgentManifest:
    """As `read_manifest`: with `[build]` and no command, the name may be missing."""
    document = _document(path)
    if "build" not in document or "command" in document:
        return read_manifest(path)
    sent = parse(SentManifest, document, str(path))
    _checked(sent.model_copy(update={"name": sent.name or "unnamed"}), path)
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
    if fault := _fault_of_first(manifest.command, path.parent):
        raise InputError(f"{path}: command: {fault}")
    if "\0" in manifest.description:
        raise InputError(sentence(f"{path}: description: it has the control character U+0000"))


def _fault_of_first(words: tuple[str, ...], source: Path) -> str:
    """No shell reads a command."""
    first = next(iter(words), "./")
    if is_file(source / first):
        return ""
    shown = quote(first, 80)
    if not first.strip():
        return sentence("its first word is empty: name the program")
    if first[0] in "\"'`":
        return sentence(f"{shown}: its quotes are part of the name: write it without the inner quotes")
    if first.startswith(("~", "$", "%")) or re.match(r"[A-Za-z]:[\\/]", first):
        return sentence(f"{shown} is a place on your computer: name the program relative to this directory: ./main")
    if len(parts := first.split()) > 1:
        fix = json.dumps([*parts, *words[1:]], ensure_ascii=False)
        return sentence(
            f"{shown} is one word, and no file of that name is there: write command = {quote(fix, 200)[1:-1]}"
        )
    return ""


def _checked(manifest: AgentManifest, path: Path) -> AgentManifest:
    if not is_name(manifest.name):
        raise InputError(
            sentence(
                f"{path}: name {manifest.name!r}: only A-Z, a-z, 0-9, dash, underscore and dot, "
                "1 to 64 of them, no dot first"
            )
        )
    _refuse_odd_words(manifest, path)
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


def _manifest_of_directory(source: Path) -> AgentManifest:
    refuse_misnamed_manifest(source)
    info = source / INFO
    if info.is_file() and not (source / MANIFEST).exists():
        return read_info(info)
    brains = brains_of(source)
    if brains:
        name = fit_name(brain_name(choose_executable(brains, "", 0)))
        manifest = _manifest_of_file(source / brains[0])
        if manifest.runtime == WINE:
            for brain in brains:
                width_of(source / brain)
        return manifest.model_copy(update={"name": name})
    if not (source / MANIFEST).exists():
        raise InputError(nothing_plays(source))
    return _launched(read_manifest(source / MANIFEST), source)


def _launched(manifest: AgentManifest, source: Path) -> AgentManifest:
    """Insert `wine` before a Windows program. Raises InputError."""
    words = manifest.command[1:] if manifest.command[0] == WINE else manifest.command
    words = tuple(_word_of_file(word, source) for word in words)
    manifest = manifest.model_copy(update={"command": (*((WINE,) if manifest.command[0] == WINE else ()), *words)})
    for word in words:
        path = word.replace("\\", "/")
        if path != word and not path.startswith("/") and is_file(source / path) and not is_file(source / word):
            raise InputError(
                sentence(f"{source / MANIFEST}: command: {quote(word, 80)}: between directories write /: {path}")
            )
    program = source / words[0] if words else source
    if manifest.runtime == WINE:
        if not is_file(program):
            raise InputError(
                sentence(f"{source / MANIFEST}: command: name the Windows program, relative to this directory")
            )
        width_of(program)
        return manifest.model_copy(update={"command": (WINE, *words)})
    if manifest.runtime == "native" and is_file(program) and is_windows_program(program):
        runtime = f'"{MONO}", command = ["{MONO}", "{words[0]}"]' if is_dotnet(program) else f'"{WINE}"'
        raise InputError(sentence(f"{source / MANIFEST}: {words[0]} is a Windows program: set runtime = {runtime}"))
    return manifest


def _word_of_file(word: str, source: Path) -> str:
    found = "" if is_file(source / word) else similar_path(source, word)
    if not found or not is_file(source / found):
        return word
    if unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", word.removeprefix("./")):
        return f"./{found}" if word.startswith("./") else found
    if "." not in word and "/" not in word:
        return word
    raise InputError(
        sentence(
            f"{source / MANIFEST}: command: there is no {quote(word, 80)}, but {quote(found, 80)}: names differ in "
            "case here; correct one of them"
        )
    )


def refuse_misnamed_manifest(source: Path) -> None:
    """Raises InputError for a misspelt agent.toml."""
    if (source / MANIFEST).exists() or not source.is_dir():
        return
    for path in sorted(source.iterdir()):
        lower = path.name.lower()
        if path.is_file() and (lower == MANIFEST or lower in _NEAR_MANIFEST):
            hidden = "; Windows hides such endings" if lower.endswith(".txt") else ""
            raise InputError(
                sentence(f"{source / MANIFEST} is missing: there is {path.name}: call it {MANIFEST}{hidden}")
            )


def nothing_plays(source: Path) -> str:
    """Return why a directory cannot play."""
    files = [path for path in own_paths(source) if path.is_file()]
    for path in files:
        if is_lfs_pointer(path):
            return f"{path} is a pointer of Git LFS, not the file itself: run git lfs pull, and send that"
    inner = sorted([*source.glob(f"*/{MANIFEST}"), *source.glob(f"*/*/{MANIFEST}")])
    if inner:
        return sentence(
            f"{source / MANIFEST} is missing: there is {inner[0]}: name its directory, or move its files up"
        )
    if language := language_of(source):
        return f"{source}: {language}: {NOT_BUILT}"
    programs = playable(files)
    found = [path.relative_to(source).as_posix() for path in programs]
    if found:
        command, runtime = _command_for(programs[0], found[0])
        return (
            f"{source / MANIFEST} is missing: name the program that plays {PREFIX}…, or add an {MANIFEST} with "
            f"command = {json.dumps(command)} and runtime = {json.dumps(runtime)} "
            f"(programs in it: {', '.join(found[:5])})"
        )
    if archive := next((path for path in files if path.suffix.lower() in ARCHIVES), None):
        return sentence(f"{archive} is an archive: unpack it and name its directory, or give it to judge submit")
    return (
        f"{source / MANIFEST} is missing, and there is no program called {PREFIX}… that could be played: "
        f"no ELF binary, Windows program, Python program or .jar"
    )


def _command_for(program: Path, name: str) -> tuple[list[str], str]:
    match kind_of(program):
        case ProgramKind.PYTHON:
            python, *options = python_words(program)
            return [python, *options, name], PYTHON_2 if python == "python2" else "python"
        case ProgramKind.JAR:
            return ["java", "-jar", name], "java"
        case ProgramKind.WINDOWS:
            return ([MONO, name], MONO) if is_dotnet(program) else ([name], WINE)
    return [f"./{name}"], "native"


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
    program = _manifest_of_file(path.parent / words[0])
    manifest = program.model_copy(
        update={
            "name": fit_name(path.parent.resolve().name),
            "command": (*program.command[:-1], words[0], *words[1:]),
            "author": author.strip(),
            "language": language.strip(),
            "description": "\n".join(lines[3:]).strip(),
        }
    )
    return _checked(manifest, path)


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


def _manifest_of_file(source: Path) -> AgentManifest:
    name = fit_name(source.stem)
    with source.open("rb") as stream:
        head = stream.read(128)
    fields: dict[str, Any] = {"name": name, "command": (f"./{source.name}",)}
    if is_windows_program(source):
        if is_dotnet(source):
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


def is_name(text: str) -> bool:
    """Whether an agent name is valid."""
    return _NAME.fullmatch(text) is not None


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
