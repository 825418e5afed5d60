"""Which executable of a Gomocup brain's archive plays: by rule and size of the board, then by the width of the machine.

Gomoku AI protocol: an archive may hold several programs; their names begin with `pbrain-`, and a 64-bit one has 64 in
it. The official manager reads more from the end of a name, before that 64: `_renju-15`, `_renju` or `_15` say what the
program is for.

    pbrain-swine.exe             any rule, any size, 32 bits
    pbrain-swine64.exe           the same for 64 bits
    pbrain-swine_caro-15_64      caro on 15x15, 64 bits
"""

import re
from collections.abc import Sequence

PREFIX = "pbrain-"

_ENDING = re.compile(r"\.(?:exe|py|jar)$", re.IGNORECASE)
"""What says how a program is run, and is no part of its name."""

_RULES = ("freestyle", "standard", "renju", "caro")
_PURPOSE = re.compile(rf"_({'|'.join(_RULES)})(?:-([0-9]{{1,2}}))?$|_()([0-9]{{1,2}})$", re.IGNORECASE)
"""At the end of a name: a rule, a rule and a size, or a size."""


def brain_name(executable: str) -> str:
    """What a brain is called: its program without `pbrain-`, file ending, purpose and width."""
    return _PURPOSE.sub("", _stem(executable)).removeprefix(PREFIX)


def own_name(command: Sequence[str]) -> str:
    """What a brain calls itself, and so its temporary folder (Gomoku AI protocol): its program's file name without the
    ending.

    Empty where no word of the command names a program that begins with `pbrain-`.
    """
    files = (word.replace("\\", "/").rpartition("/")[2] for word in command)
    brain = next((file for file in files if file.startswith(PREFIX)), "")
    return _ENDING.sub("", brain)


def choose_executable(names: Sequence[str], rule: str, size: int) -> str:
    """The name that fits `rule` (a word of the game's options) and the size of the board best, on a 64-bit machine.

    A program for another rule or size is chosen only where there is no other; among equals the first by name is.
    """
    wanted = "caro" if rule.startswith("caro") else rule
    return min(sorted(names), key=lambda name: _unfitness(name, wanted, str(size)))


def _unfitness(name: str, rule: str, size: str) -> tuple[int, bool]:
    """Smaller is better: first how closely it was made for this, then whether it has the machine's width."""
    made = _PURPOSE.search(_stem(name))
    made_rule, made_size = "", ""
    if made is not None:
        made_rule, made_size = (made[1] or "").lower(), made[2] or made[4] or ""
    if made_rule not in ("", rule) or made_size not in ("", size):
        return 4, "64" not in name
    return 3 - 2 * bool(made_rule) - bool(made_size), "64" not in name


def _stem(name: str) -> str:
    """The name without its ending and the 64 at its end."""
    return re.sub(r"[-_]?64$", "", re.sub(r"\.exe$", "", name, flags=re.IGNORECASE))
