"""Agents that are the house agent in Python, or the starter of AGI, but for one thing, which they do wrong."""

import stat
from collections.abc import Mapping
from pathlib import Path

from judge.base.resources import IMAGES

HOUSE_PYTHON = (IMAGES / "house-python" / "house-python.py").read_text(encoding="utf-8")
_STARTER_AGI = (IMAGES / "starter-agi-python" / "starter.py").read_text(encoding="utf-8")
_ANSWERS_GO = '            say(f"BESTMOVE {self.decide(rest)}")\n'
_ANSWERS = "            print(answer, flush=True)\n"
_CASES = '        if command == "ABOUT":\n'
_ENDS = "\n\nif __name__"


def _replaced(sound: str, flawed: str, source: str) -> str:
    assert source.count(sound) == 1, sound
    return source.replace(sound, flawed)


def answering(code: str, source: str = HOUSE_PYTHON) -> str:
    """An agent that runs `code` (with `answer` and `agent`) where the sound one prints its answer."""
    return _replaced(_ANSWERS, "".join(f"            {line}\n" for line in code.splitlines()), source)


def hearing(code: str, source: str = HOUSE_PYTHON) -> str:
    """An agent that runs `code` (with `self`, `command` and `rest`) on each request, before it is looked at."""
    return _replaced(_CASES, "".join(f"        {line}\n" for line in code.splitlines()) + _CASES, source)


def ending(code: str, source: str = HOUSE_PYTHON) -> str:
    """An agent that runs `code` where the sound one exits."""
    return _replaced(_ENDS, "".join(f"\n    {line}" for line in code.splitlines()) + _ENDS, source)


def reading(code: str, source: str = HOUSE_PYTHON) -> str:
    """An agent whose lines are what `code` makes of stdin."""
    return _replaced("filter(None, map(str.strip, sys.stdin))", code, source)


def knowing(rules: str, source: str = HOUSE_PYTHON) -> str:
    """An agent that plays under these rules as it does under the others."""
    return _replaced("self.rule not in (0, 1)", f"self.rule not in {rules}", source)


def remembering(what: str, source: str = HOUSE_PYTHON) -> str:
    """An agent that makes `what` at its start and keeps it, as `kept`."""
    return source.replace("import sys\n", f"import sys\n\nkept = {what}\n", 1)


def engine(code: str, _: str) -> str:
    """A sound AGI engine that runs `code` (with `ms`, the time that it is told) before it decides."""
    source = _STARTER_AGI.replace("import sys\n", "import sys\nimport time\n", 1)
    source = _replaced("ID NAME starter", "ID NAME sound one", source)
    return _replaced(_ANSWERS_GO, f"            ms = int(rest[-1])\n            {code}\n{_ANSWERS_GO}", source)


def changed(changes: Mapping[str, str | list[str]]) -> str:
    """The house agent with changes by name: `CHANGES`, or `replacing`: a text by another."""
    source = HOUSE_PYTHON
    for name, what in changes.items():
        source = source.replace(what[0], what[1]) if isinstance(what, list) else CHANGES[name](what, source)
    return source


CHANGES = {each.__name__: each for each in (answering, hearing, ending, reading, knowing, remembering, engine)}


def write(directory: Path, source: str, manifest: str = "") -> str:
    """The path of an agent made of this source: one file, or a folder with more lines for its agent.toml."""
    program = directory / "flawed.py"
    program.write_text(source, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    if not manifest:
        return str(program)
    folder = directory / "flawed"
    folder.mkdir()
    program.rename(folder / "flawed.py")
    (folder / "agent.toml").write_text(
        f'name = "flawed"\nruntime = "python"\ncommand = ["python3", "flawed.py"]\n{manifest}\n'
    )
    return str(folder)
