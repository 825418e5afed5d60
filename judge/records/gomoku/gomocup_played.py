"""Reads a finished GomocupJudge tournament: its `.psq` files and, if present, state.txt.

Without state.txt the kind of end is known only from the stones. The files are untrusted: links are not followed, and
sizes are limited.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.text import quote
from judge.games.types import Verdict
from judge.records.gomoku.gomocup_result_files import BY_FAILURE, BY_ILLEGAL, BY_RULES, STATE
from judge.records.gomoku.psq import read_psq
from judge.records.gomoku.record import FiveRecord, Outcome, outcome_on_board

MAX_GAMES = 100_000
LARGEST_GAME, LARGEST_STATE = 1 << 20, 32 << 20

_NAME = re.compile(r"([0-9]{1,6})_([0-9]{1,6})_([0-9]{1,6})_([012])\.psq")
_STATE = re.compile(
    r"\(([0-9]{1,6}), ([0-9]{1,6}), ([0-9]{1,6})\)\t(?:[012]|None)\t([0-4]|None)(?:\t-?[0-9]{1,12}(?:\.[0-9]+)?){4}"
)

_LAST_LINE = re.compile(rb"[\r\n][ \t]*[012][ \t]*,[^\r\n]*[\r\n]*\Z")

Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class TheirGame:
    """`end` is from state.txt; None: unknown."""

    file: str
    record: FiveRecord
    end: int | None
    is_by_mover: bool
    """The winner is known only as the first or second mover after the opening."""


def read_played(directory: Path) -> Sequence[TheirGame]:
    """Sorted by file name. Raises InputError."""
    if not directory.is_dir():
        raise InputError(f"{directory}: not a directory; give the one with the .psq files of a tournament")
    paths = sorted(path for path in directory.iterdir() if path.suffix == ".psq")
    if not paths:
        raise InputError(f"{directory}: no .psq file; give the directory with the games of a tournament")
    if len(paths) > MAX_GAMES:
        raise InputError(f"{directory}: more than {MAX_GAMES} games; split it")
    ends = _read_state(directory / STATE)
    return [_read_game(path, ends) for path in paths]


def _read_game(path: Path, ends: Mapping[Place, int]) -> TheirGame:
    data = read_bounded(path, LARGEST_GAME)
    record = read_psq(data, str(path))
    if record.names is None or not record.outcome:
        raise InputError(
            f"{path}: players or winner are missing; a game of GomocupJudge ends with the two players, -1, "
            "and a line such as 1,cup"
        )
    match = _NAME.fullmatch(path.name)
    end = None
    if match is not None:
        # The file name has the winner's colour. The last line counts from the first mover after the opening, whose
        # length is uncertain.
        outcome, verdict = _OUTCOMES[int(match[4])], record.verdict
        if verdict != Verdict.ILLEGAL and outcome != "draw":
            verdict = Verdict.WIN.value if outcome == outcome_on_board(record) else ""
        record = replace(record, outcome=outcome, verdict=verdict)
        end = ends.get((int(match[2]), int(match[3]), int(match[1])))
    if end is None and record.verdict in (Verdict.WIN, Verdict.DRAW):
        end = BY_RULES
    if end in (None, BY_FAILURE) and record.verdict == Verdict.ILLEGAL:
        end = BY_ILLEGAL
    return TheirGame(path.name, record, end, match is None and _LAST_LINE.search(data) is not None)


_OUTCOMES: Sequence[Outcome] = ("draw", "black", "white")


def _read_state(path: Path) -> Mapping[Place, int]:
    if not path.is_symlink() and not path.exists():
        return {}
    ends: dict[Place, int] = {}
    for number, line in enumerate(read_bounded(path, LARGEST_STATE).decode("latin-1").splitlines(), 1):
        match = _STATE.fullmatch(line.strip())
        if match is None:
            raise InputError(
                f"{path}, line {number}: {quote(line, 40)} is not a game; remove the file if it is not GomocupJudge's: "
                "the ends of games are then derived from their stones"
            )
        if match[4] != "None":
            ends[int(match[1]), int(match[2]), int(match[3])] = int(match[4])
    return ends
