"""Agents from the engines of Debian's packages."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

GAMES = "/usr/games:/usr/local/bin:/usr/bin"
LOADER = "/lib64/ld-linux-x86-64.so.2"
IN_IMAGE = re.compile(r"lib(c|m|dl|pthread|stdc\+\+|gcc_s)\.so\.[0-9]+")
"""Libraries of the image `native`."""


class Engine(NamedTuple):
    """A program and its package."""

    program: str
    package: str


ENGINES = (
    Engine("stockfish", "stockfish"),
    Engine("fairy-stockfish", "fairy-stockfish"),
    Engine("ethereal-chess", "ethereal-chess"),
    Engine("glaurung", "glaurung"),
    Engine("toga2", "toga2"),
)


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
    words = [LOADER, "--library-path", "/agent:.", "./engine"] if libraries else ["./engine"]
    command = ", ".join(f'"{word}"' for word in words)
    (agent / "agent.toml").write_text(f'name = "{engine.program}"\ncommand = [{command}]\nprotocol = "uci"\n')
    return agent
