"""Classifies the differences of a GomocupJudge tournament and a contest of this judge.

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

from judge.base.text import one_line
from judge.games.gomoku import Gomoku
from judge.games.gomoku.requests import COLOURS, Square, square_name
from judge.games.types import Verdict
from judge.records.gomoku.gomocup_played import TheirGame, read_played
from judge.records.gomoku.gomocup_result_files import BY_FAILURE, BY_FOUL, BY_ILLEGAL, BY_RULES, BY_TIME, end_of
from judge.records.gomoku.gomocup_rules import ClockFinding, RulesEnd, first_overrun, judged
from judge.records.gomoku.piskvork import safe_name
from judge.records.gomoku.record import FiveRecord, Outcome
from judge.records.gomoku.replay import five_of
from judge.records.managers import ContestComparison, ContestGame, Difference, DifferenceKind, FinishedContest

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
    if game.file is None:
        return None
    record = five_of(game.file)
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
