"""Openings of a contest: read from a file, one a line, and given to pairs of games in turn."""

from collections.abc import Sequence
from pathlib import Path

from judge.catalog import game_entry
from judge.catalog.entry import NOT_TURNED, Opening, Openings, Turn
from judge.errors import InputError
from judge.records.text_files import decode_file
from judge.referee.policy import Policy
from judge.referee.seeds import Seed, numbers


def read_openings(path: Path, openings: Openings) -> list[Opening]:
    """The openings of the file at `path`, in its order; blank lines and `# comments` are skipped.

    InputError names the file, the line, the token and the fix; an opening that stands there twice
    is refused, for it would weigh double unseen.
    """
    openings.parse("")  # a board of a wrong size is not the fault of line 1
    lines: dict[Opening, int] = {}
    for number, line in enumerate(_read_text(path).split("\n"), 1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                opening = openings.parse(text)
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from error
            first = lines.setdefault(opening, number)
            if first != number:
                raise InputError(f"{path}, line {number}: the same opening as in line {first}; remove one of the two")
    if not lines:
        raise InputError(f"{path} holds no opening; write one a line, such as {openings.example}")
    return list(lines)


def schedule(openings: Sequence[Opening], pair: int, seed: Seed | None, turns: Sequence[Turn]) -> Opening:
    """The opening of the pair of games number `pair`, from 0.

    Balanced: each opening is played once before any is played again. With a `seed` every such pass
    has an order of its own; without one it is the order given. The passes go through the
    symmetries `turns`, so that the same opening comes back as another one.
    """
    number, place = divmod(pair, len(openings))
    order = list(range(len(openings)))
    if seed is not None:
        numbers(seed, number).shuffle(order)
    turn = turns[number % len(turns)]
    return tuple(turn(x, y) for x, y in openings[order[place]])


def turns_of(policy: Policy) -> Sequence[Turn]:
    """The symmetries in which the openings of a policy's game may come again."""
    written = game_entry(policy.game.name).openings(policy.game.options)
    return NOT_TURNED if written is None else written.turns


def _read_text(path: Path) -> str:
    """The file's text, with LF for every line end."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return decode_file(data, str(path))
