"""Reads a finished GomocupJudge tournament, and classifies its differences from a contest of this judge.

Without state.txt the kind of end is known only from the stones. The files are untrusted: links are not followed, and
sizes are limited.

Each GomocupJudge game is checked against this judge's rules and clocks, then compared with the game of the same agents,
colours and opening. The first matching row applies:

    stones differ at some place         answer; also blame if the same side failed in both for another reason
    one game ends, the other continues  by its end: time is clock, the rules or a foul is rule, any other is blame
    same stones, different end          time and the rules: clock; the rules and a foul: rule; any other: blame

GomocupJudge reports a program's exit as exceeded time: a difference of blame.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.catalog.managers import ContestComparison, ContestGame, Difference, DifferenceKind, FinishedContest
from judge.formats.gomoku.piskvork import safe_name
from judge.formats.gomoku.psq import read_psq
from judge.formats.gomoku.record import WINNERS, FiveRecord, Outcome, five_of, outcome_on_board
from judge.games.gomoku import Gomoku, Rule
from judge.games.gomoku.board import GomokuBoard
from judge.games.gomoku.renju import foul
from judge.games.gomoku.requests import BLACK, COLOURS, Square, square_name
from judge.games.gomoku.rules import winning_row
from judge.games.types import Verdict
from judge.record.policy import ClockPolicy
from judge_gomocup.result_files import BY_FAILURE, BY_FOUL, BY_ILLEGAL, BY_RULES, BY_TIME, STATE, end_of

MAX_GAMES = 100_000
MAX_GAME_BYTES, MAX_STATE_BYTES = 1 << 20, 32 << 20

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
    data = read_bounded(path, MAX_GAME_BYTES)
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
    for number, line in enumerate(read_bounded(path, MAX_STATE_BYTES).decode("latin-1").splitlines(), 1):
        match = _STATE.fullmatch(line.strip())
        if match is None:
            raise InputError(
                f"{path}, line {number}: {quote(line, 40)} is not a game; remove the file if it is not GomocupJudge's: "
                "the ends of games are then derived from their stones"
            )
        if match[4] != "None":
            ends[int(match[1]), int(match[2]), int(match[3])] = int(match[4])
    return ends


class RulesEnd(NamedTuple):
    """`stone` counts from 1."""

    stone: int
    outcome: Outcome
    said: str


class ClockFinding(NamedTuple):
    """A stone, from 1, that took too long; times in milliseconds."""

    stone: int
    colour: int
    ms: int
    allowed: int
    limit: str


def judged(record: FiveRecord, opening: int, rule: Rule, drawn_at: int) -> RulesEnd | None:
    """End by the rules, if any. The opening never ends a game."""
    board = GomokuBoard(record.width, record.height)
    for number, (x, y, _) in enumerate(record.moves):
        colour = number % 2
        is_played = number >= opening
        found = None
        if is_played and rule is Rule.RENJU and colour == BLACK:
            found = foul(board.cells, board.stride, board.index(x, y))
        at = board.place(x, y, colour)
        if found is not None:
            return RulesEnd(number + 1, "white", f"white won by black's {found.value}")
        if not is_played:
            continue
        row = winning_row(board.cells, board.stride, at, rule)
        if row is not None:
            return RulesEnd(number + 1, WINNERS[row.colour], f"{COLOURS[row.colour]} won by a row of {row.length}")
        if number + 1 >= drawn_at:
            return RulesEnd(number + 1, "draw", "the game is drawn")
    return None


def first_overrun(record: FiveRecord, opening: int, clock: ClockPolicy) -> ClockFinding | None:
    """First stone that exceeded the clocks.

    First moves are allowed `start_ms` more: GomocupJudge charges start-up to them.
    """
    used = [0, 0]
    times: Sequence[int] = [ms for _, _, ms in record.moves]
    for number in range(opening, len(times)):
        colour, ms = number % 2, times[number]
        turn = clock.answer_ms
        left = clock.match_ms - used[colour] if clock.match_ms else turn
        start = clock.start_ms if number < opening + 2 else 0
        limit, words = (turn + start, "turn_ms") if turn + start <= left else (left, "match_ms")
        allowed = max(0, limit + clock.tolerance_ms)
        if ms > allowed:
            return ClockFinding(number + 1, colour, ms, allowed, f"clock.{words} and clock.tolerance_ms")
        used[colour] += ms
    return None


_ENDS = {
    BY_RULES: "by the rules",
    BY_FOUL: "by a foul",
    BY_TIME: "on time",
    BY_ILLEGAL: "by an illegal move",
    BY_FAILURE: "by a failure",
    None: "in a way not recorded in its files",
}

_OTHER: Mapping[Outcome, Outcome] = {"black": "white", "white": "black", "draw": "draw", "": ""}

Opening = tuple[Square, ...]
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Game:
    record: FiveRecord
    opening: Opening
    end: int | None
    file: str = ""
    number: int = 0

    @property
    def played(self) -> Sequence[Square]:
        return [(x, y) for x, y, _ in self.record.moves[len(self.opening) :]]

    @property
    def said(self) -> str:
        outcome = self.record.outcome
        who = {"draw": "drawn", "": "nobody won"}.get(outcome, f"{outcome} won")
        return f"{who} {_ENDS[self.end]} after {len(self.record.moves)} stones"


def compare_played(directory: Path, contest: FinishedContest) -> ContestComparison:
    """Raises InputError."""
    rules = Gomoku.from_options(dict(contest.policy.game.options)).options
    known = {opening for opening in contest.openings if not isinstance(opening, str)}
    ours = [game for each in contest.games if (game := _our_game(each)) is not None]
    known |= {game.opening for game in ours}
    read = read_played(directory)
    theirs = [_their_game(each, known) for each in read]
    found: list[Difference] = []
    for game, each in zip(theirs, read, strict=True):
        found.extend(
            replace(difference, game=each.file) for difference in _by_our_rules(game, known, rules.drawn_at, contest)
        )
    aligned, rest, left = _align(theirs, ours)
    same = 0
    for their, our in aligned:
        differences = list(_between(their, our))
        same += not differences
        found.extend(differences)
    found.extend(_not_aligned(rest, left, {_spelled(name) for name in contest.agents}))
    return ContestComparison(len(theirs), len(ours), len(aligned), same, tuple(found))


def _our_game(game: ContestGame) -> _Game | None:
    if game.steps is None:
        return None
    record = five_of(game.steps)
    if record.verdict == Verdict.FOUL:
        record = replace(record, moves=record.moves[:-1])
    opening = tuple((x, y) for x, y, _ in record.moves[: record.opening])
    return _Game(record, opening, end_of(record.verdict), number=game.number)


def _their_game(game: TheirGame, known: set[Opening]) -> _Game:
    """The longest known opening: an immediate answer also has time 0."""
    stones = tuple((x, y) for x, y, _ in game.record.moves)
    fitting = [opening for opening in known if stones[: len(opening)] == opening]
    opening = max(fitting, key=len, default=stones[: game.record.opening])
    record = game.record
    if game.is_by_mover and (len(opening) - record.opening) % 2:
        record = replace(record, outcome=_OTHER[record.outcome])
    return _Game(record, opening, game.end, game.file)


def _key(game: _Game) -> Key:
    black, white = game.record.names or ("", "")
    return _spelled(black), _spelled(white)


def _spelled(name: str) -> str:
    stem = re.sub(r"\.(zip|exe)$", "", one_line(name).casefold())
    return re.sub(r"[^a-z0-9.]", "_", safe_name(stem)).strip("_")


def _align(
    theirs: Sequence[_Game], ours: Sequence[_Game]
) -> tuple[list[tuple[_Game, _Game]], list[_Game], list[_Game]]:
    waiting: dict[tuple[Key, Opening], list[_Game]] = defaultdict(list)
    for our in ours:
        waiting[_key(our), our.opening].append(our)
    aligned, rest = [], []
    for their in theirs:
        partners = waiting[_key(their), their.opening]
        if partners:
            aligned.append((their, partners.pop(0)))
        else:
            rest.append(their)
    return aligned, rest, [our for partners in waiting.values() for our in partners]


def _not_aligned(theirs: Sequence[_Game], ours: Sequence[_Game], agents: set[str]) -> Iterator[Difference]:
    waiting: dict[Key, list[_Game]] = defaultdict(list)
    for our in sorted(ours, key=lambda game: game.number):
        waiting[_key(our)].append(our)
    for their in theirs:
        key = _key(their)
        strangers = [
            name for name, spelled in zip(their.record.names or (), key, strict=False) if spelled not in agents
        ]
        if strangers:
            text = f"{' and '.join(one_line(name, 60) for name in strangers)} does not take part here"
            yield Difference(game=their.file, kind=DifferenceKind.OPENING, text=text)
        elif waiting[key]:
            our = waiting[key].pop(0)
            text = f"GomocupJudge began from {_squares(their.opening)}; judge from {_squares(our.opening)}"
            yield _difference(their, our, DifferenceKind.OPENING, text)
        else:
            text = "it has no result here: not played, void, or the pairing is not planned"
            yield Difference(game=their.file, kind=DifferenceKind.OPENING, text=text)
    for our in (game for games in waiting.values() for game in games):
        black, white = our.record.names or ("", "")
        text = f"{black} - {white} from {_squares(our.opening)} is missing in the games of GomocupJudge"
        yield Difference(game="", number=our.number, kind=DifferenceKind.OPENING, text=text)


def _squares(stones: Sequence[Square]) -> str:
    return "".join(square_name(x, y) for x, y in stones) or "an empty board"


def _by_our_rules(game: _Game, known: set[Opening], drawn_at: int, contest: FinishedContest) -> Iterator[Difference]:
    options, record = contest.policy.game.options, game.record
    size = (options["width"], options["height"])
    if (record.width, record.height) != size:
        text = f"GomocupJudge plays on {record.width}x{record.height}, judge on {size[0]}x{size[1]}"
        yield Difference(game=game.file, kind=DifferenceKind.RULE, text=text)
        return
    if game.opening not in known:
        text = f"GomocupJudge began from {_squares(game.opening)}, which is not an opening of this contest"
        yield Difference(game=game.file, kind=DifferenceKind.OPENING, text=text)
    rule = Gomoku.from_options(dict(options)).rule
    end = judged(record, len(game.opening), rule, drawn_at)
    if (against := _against(game, end)) is not None:
        changes = end is not None and end.outcome != record.outcome
        yield Difference(game=game.file, kind=DifferenceKind.RULE, text=against, changes_result=changes)
    elif end is None and game.end not in (BY_RULES, BY_FOUL) and record.outcome == COLOURS[len(record.moves) % 2]:
        text = f"GomocupJudge: {game.said}; but {record.outcome} was to move, so by judge's rules it could not win"
        yield Difference(game=game.file, kind=DifferenceKind.BLAME, text=text, changes_result=True)
    overrun = first_overrun(record, len(game.opening), contest.policy.clock)
    if overrun is not None:
        yield _clock(game, overrun)


def _against(game: _Game, end: RulesEnd | None) -> str | None:
    record = game.record
    if end is None:
        claims = game.end in (BY_RULES, BY_FOUL) or record.outcome == "draw"
        # GomocupJudge's files omit the forbidden stone.
        is_foul = game.end == BY_FOUL and record.outcome == "white" and len(record.moves) % 2 == 0
        return f"GomocupJudge: {game.said}; by judge's rules the game continues" if claims and not is_foul else None
    by_ours = f"by judge's rules {end.said} with stone {end.stone}"
    if end.stone < len(record.moves):
        return f"GomocupJudge continued to stone {len(record.moves)}: {game.said}; {by_ours}"
    return None if end.outcome == record.outcome else f"GomocupJudge: {game.said}; {by_ours}"


def _clock(game: _Game, overrun: ClockFinding) -> Difference:
    winner = COLOURS[1 - overrun.colour]
    text = (
        f"{COLOURS[overrun.colour]} took {overrun.ms} ms for stone {overrun.stone}; judge's clock allows "
        f"{overrun.allowed} ms ({overrun.limit}), so {winner} would have won; GomocupJudge: {game.said}"
    )
    return Difference(
        game=game.file, kind=DifferenceKind.CLOCK, text=text, changes_result=winner != game.record.outcome
    )


def _between(their: _Game, our: _Game) -> Iterator[Difference]:
    theirs, ours = their.played, our.played
    place = next((n for n, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), None)
    both = f"GomocupJudge: {their.said}; judge: {our.said}"
    ends = {their.end, our.end}
    if place is not None:
        stone = len(their.opening) + place
        colour = COLOURS[stone % 2]
        answers = f"{square_name(*theirs[place])} at GomocupJudge, {square_name(*ours[place])} here"
        text = f"{colour} answered {answers} with stone {stone + 1}; {both}"
        yield _difference(their, our, DifferenceKind.ANSWER, text)
        is_failure = ends <= {BY_TIME, BY_ILLEGAL, BY_FAILURE}
        if is_failure and len(ends) == 2 and their.record.outcome == our.record.outcome:
            yield _difference(their, our, DifferenceKind.BLAME, both)
    elif len(theirs) != len(ours):
        end = their.end if len(theirs) < len(ours) else our.end
        by_rules = DifferenceKind.RULE if end in (BY_RULES, BY_FOUL) else DifferenceKind.BLAME
        yield _difference(their, our, DifferenceKind.CLOCK if end == BY_TIME else by_rules, both)
    elif their.record.outcome != our.record.outcome or their.end not in (None, our.end):
        yield _difference(their, our, _kind_of_ends(ends), both)


def _kind_of_ends(ends: set[int | None]) -> DifferenceKind:
    by_rules = ends & {BY_RULES, BY_FOUL}
    if BY_TIME in ends:
        return DifferenceKind.CLOCK if by_rules or ends == {BY_TIME} else DifferenceKind.BLAME
    return DifferenceKind.RULE if by_rules and ends <= {BY_RULES, BY_FOUL} else DifferenceKind.BLAME


def _difference(their: _Game, our: _Game, kind: DifferenceKind, text: str) -> Difference:
    changes = their.record.outcome != our.record.outcome
    return Difference(game=their.file, number=our.number, kind=kind, text=text, changes_result=changes)
