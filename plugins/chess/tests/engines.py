"""Agents from the engines of Debian's packages."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

GAMES = "/usr/games:/usr/local/bin:/usr/bin"
LOADER = "/lib64/ld-linux-x86-64.so.2"
IN_IMAGE = re.compile(r"lib(c|m|dl|pthread|stdc\+\+|gcc_s)\.so\.[0-9]+")
"""Libraries of the image `native`."""


class Engine(NamedTuple):
    """A program, its package, the arguments that it needs in a container, and data files."""

    program: str
    arguments: tuple[str, ...] = ()
    protocol: str = "uci"
    files: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        return self.program


ENGINES = (
    Engine("stockfish"),
    Engine("fairy-stockfish"),
    Engine("ethereal-chess"),
    Engine("glaurung"),
    Engine("toga2"),
    Engine("gnuchess", ("--uci",)),
)
CECP_ENGINES = (
    Engine("phalanx", ("-b", "-", "-l", "-"), "cecp"),
    Engine("sjeng", (), "cecp"),
    Engine("fairymax", ("20", "fmax.ini"), "cecp", ("/usr/share/games/fairymax/fmax.ini",)),
    Engine("hoichess", ("--xboard",), "cecp"),
)


def installed(engines: Iterable[Engine]) -> list[Engine]:
    return [engine for engine in engines if program_of(engine) is not None]


def program_of(engine: Engine) -> Path | None:
    found = shutil.which(engine.program, path=GAMES)
    return None if found is None else Path(found)


def make_agent(engine: Engine, folder: Path) -> Path:
    """A folder with the program, the libraries that the image lacks, and its manifest."""
    program = program_of(engine)
    assert program is not None, f"install {engine.package}"
    agent = folder / engine.program
    agent.mkdir()
    shutil.copy(program, agent / "engine")
    linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    libraries = [Path(path) for name, path in re.findall(r"(\S+) => (/\S+)", linked) if not IN_IMAGE.fullmatch(name)]
    for library in libraries:
        shutil.copy(library, agent / library.name)
    for file in engine.files:
        shutil.copy(file, agent)
    words = [LOADER, "--library-path", "/agent:.", "./engine"] if libraries else ["./engine"]
    command = json.dumps([*words, *engine.arguments])
    text = f'name = "{engine.program}"\ncommand = {command}\nprotocol = "{engine.protocol}"\n'
    (agent / "agent.toml").write_text(text)
    return agent
