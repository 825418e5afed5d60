"""Agents that are the house agent in Python but for one thing, which they do wrong."""

import stat
from pathlib import Path

from judge.base.resources import IMAGES

HOUSE_PYTHON = (IMAGES / "house-python" / "house-python.py").read_text(encoding="utf-8")
_ANSWERS = "            print(answer, flush=True)\n"
_CASES = '        if command == "ABOUT":\n'
_ENDS = "\n\nif __name__"


def _replaced(sound: str, flawed: str, source: str = HOUSE_PYTHON) -> str:
    assert source.count(sound) == 1, sound
    return source.replace(sound, flawed)


def answering(code: str) -> str:
    """An agent that runs `code` (with `answer` and `agent`) where the sound one prints its answer."""
    return _replaced(_ANSWERS, "".join(f"            {line}\n" for line in code.splitlines()))


def hearing(code: str) -> str:
    """An agent that runs `code` (with `self`, `command` and `rest`) on each request, before it is looked at."""
    return _replaced(_CASES, "".join(f"        {line}\n" for line in code.splitlines()) + _CASES)


def ending(code: str) -> str:
    """An agent that runs `code` where the sound one exits."""
    return _replaced(_ENDS, "".join(f"\n    {line}" for line in code.splitlines()) + _ENDS)


def reading(code: str) -> str:
    """An agent whose lines are what `code` makes of stdin."""
    return _replaced("filter(None, map(str.strip, sys.stdin))", code)


def knowing(rules: str) -> str:
    """An agent that plays under these rules as it does under the others."""
    return _replaced("self.rule not in (0, 1)", f"self.rule not in {rules}")


def remembering(what: str, source: str = HOUSE_PYTHON) -> str:
    """An agent that makes `what` at its start and keeps it, as `kept`."""
    return source.replace("import sys\n", f"import sys\n\nkept = {what}\n", 1)


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
