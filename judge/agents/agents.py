"""Stages agents by name or path.

An agent plays from a copy of its directory, identified by its digest.
"""

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.agents.builds import NOT_BUILT, language_of
from judge.agents.manifest import (
    ARCHIVES,
    INFO,
    MANIFEST,
    MONO,
    AgentManifest,
    brains_of,
    fit_name,
    manifest_of_program,
    read_info,
    read_manifest,
    refuse_misnamed_manifest,
)
from judge.agents.program_files import (
    copy_directory,
    copy_file,
    file_inside,
    new_directory,
    program_digest,
    similar_path,
)
from judge.agents.programs import PREFIX, brain_name, choose_executable, own_name, playable, read_pe, width_of
from judge.base.bookkeeping import own_paths
from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.base.resources import BUILD_DIRECTORY, IMAGES, house_agent_names
from judge.base.text import nearest, quote, sentence
from judge.games import new_game
from judge.protocols import protocol_entry
from judge.record.policy import Policy, runtime_of
from judge.record.spec import SeatSpec
from judge.sandbox.box import WINE

ME = "me"
"""A human player."""
PERSONS = (ME, "human", "@human")
"""Humans; a program with such a file name needs a path."""


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
    program = new_directory(staging, manifest.name)
    if is_directory(source):
        copy_directory(source, program)
    else:
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
        return manifest_of_program(source), source
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
        f"an {MANIFEST}, or a house agent such as {near[0]} (judge agents)"
    )


def refuse_person(named: str) -> None:
    """Raises InputError for a human."""
    if named.lower() in PERSONS:
        raise InputError(
            f"{named}: a person plays only in `judge match`, and is called {ME} there: judge match {ME} AGENT; "
            f"elsewhere agents are programs (one in a file of that name is ./{named})"
        )


def _manifest_of_directory(source: Path) -> AgentManifest:
    refuse_misnamed_manifest(source)
    info = source / INFO
    if info.is_file() and not (source / MANIFEST).exists():
        return read_info(info)
    brains = brains_of(source)
    if brains:
        name = fit_name(brain_name(choose_executable(brains, "", 0)))
        manifest = manifest_of_program(source / brains[0])
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
    program = file_inside(source, words[0]) if words else None
    if manifest.runtime == WINE:
        if program is None:
            raise InputError(
                sentence(f"{source / MANIFEST}: command: name the Windows program, relative to this directory")
            )
        width_of(program)
        return manifest.model_copy(update={"command": (WINE, *words)})
    if manifest.runtime == "native" and program is not None and (windows := read_pe(program)) is not None:
        runtime = f'"{MONO}", command = ["{MONO}", "{words[0]}"]' if windows.is_dotnet else f'"{WINE}"'
        raise InputError(sentence(f"{source / MANIFEST}: {words[0]} is a Windows program: set runtime = {runtime}"))
    return manifest


def _word_of_file(word: str, source: Path) -> str:
    path = word if word.startswith(("/", "\\")) else word.replace("\\", "/")
    found = "" if file_inside(source, word) else similar_path(source, path)
    if not found or not is_file(source / found):
        return word
    if unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", word.removeprefix("./")):
        return f"./{found}" if word.startswith("./") else found
    if "." not in path and "/" not in path:
        return word
    raise InputError(
        sentence(
            f"{source / MANIFEST}: command: there is no {quote(word, 80)}, but {quote(found, 80)}: correct one of them"
        )
    )


def nothing_plays(source: Path) -> str:
    """Return why a directory cannot play."""
    files = [path for path in own_paths(source) if path.is_file()]
    if language := language_of(source):
        return f"{source}: {language}: {NOT_BUILT}"
    if programs := ", ".join(path.relative_to(source).as_posix() for path in playable(files)[:5]):
        return (
            f"{source / MANIFEST} is missing: name the program that plays {PREFIX}…, or add an {MANIFEST} with its "
            f"command and runtime (programs in it: {programs})"
        )
    if archive := next((path for path in files if path.suffix.lower() in ARCHIVES), None):
        return sentence(f"{archive} is an archive: unpack it and name its directory, or give it to judge submit")
    return (
        f"{source / MANIFEST} is missing, and there is no program called {PREFIX}… that could be played: "
        f"no ELF binary, Windows program, Python program or .jar"
    )
