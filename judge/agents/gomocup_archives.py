"""Selects the executable of a Gomocup archive: by rule and board size, then by machine width.

Gomoku AI protocol: names begin with `pbrain-`, and 64-bit ones contain 64. The official manager also reads the purpose
from the end of a name, before the 64: `_renju-15`, `_renju` or `_15`.

    pbrain-swine.exe             any rule, any size, 32 bits
    pbrain-swine64.exe           the same for 64 bits
    pbrain-swine_caro-15_64      caro on 15x15, 64 bits
"""

import re
from collections.abc import Sequence

PREFIX = "pbrain-"

_ENDING = re.compile(r"\.(?:exe|py|jar)$", re.IGNORECASE)

_RULES = ("freestyle", "standard", "renju", "caro")
_PURPOSE = re.compile(rf"_({'|'.join(_RULES)})(?:-([0-9]{{1,2}}))?$|_()([0-9]{{1,2}})$", re.IGNORECASE)
"""A rule, a rule and a size, or a size."""


def brain_name(executable: str) -> str:
    """A file name without `pbrain-`, ending, purpose and width."""
    return _PURPOSE.sub("", _stem(executable)).removeprefix(PREFIX)


def own_name(command: Sequence[str]) -> str:
    """The name of a brain's temporary folder (Gomoku AI protocol): the `pbrain-` file name without ending, or ""."""
    files = (word.replace("\\", "/").rpartition("/")[2] for word in command)
    brain = next((file for file in files if file.startswith(PREFIX)), "")
    return _ENDING.sub("", brain)


def choose_executable(names: Sequence[str], rule: str, size: int) -> str:
    """The best name for `rule` (a word of the game's options) and size on a 64-bit machine.

    A program for another rule or size is a last resort. Ties are resolved by name.
    """
    wanted = "caro" if rule.startswith("caro") else rule
    return min(sorted(names), key=lambda name: _unfitness(name, wanted, str(size)))


def _unfitness(name: str, rule: str, size: str) -> tuple[int, bool]:
    """Smaller is better: purpose, then width."""
    made = _PURPOSE.search(_stem(name))
    made_rule, made_size = "", ""
    if made is not None:
        made_rule, made_size = (made[1] or "").lower(), made[2] or made[4] or ""
    if made_rule not in ("", rule) or made_size not in ("", size):
        return 4, "64" not in name
    return 3 - 2 * bool(made_rule) - bool(made_size), "64" not in name


def _stem(name: str) -> str:
    return re.sub(r"[-_]?64$", "", re.sub(r"\.exe$", "", name, flags=re.IGNORECASE))
