"""Verifies that each draw follows from the entries and the results before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from judge.contest_games import GameContent, GameResult, Pairing
from judge.contest_view.view import ContestView
from judge.journal.codec import UnknownLine, kind_of
from judge.journal.events import Accepted, Annulled, Disqualified, Entered, Scheduled, Withdrawn
from judge.publish.verify.records import Outcomes, result_of
from judge.store.types import JournalLine
from judge.tournament.formats.base import by_seed
from judge.tournament.formats.sequential import Sequential


def pairing_problems(contest: ContestView, log: Sequence[JournalLine], outcomes: Outcomes) -> Iterator[str]:
    """The first round that does not follow from the results before it in the log. Ladders are not verified."""
    if not contest.snapshot.format.has_rounds:
        return
    pairings, start = contest.pairings, 0
    draws = _draws_of_log(contest, log, outcomes)
    if isinstance(contest.snapshot.format, Sequential):
        yield from _sequential_problems(contest, contest.snapshot.format, draws)
        return
    for count, results, _, changes in draws:
        drawn = _first_pairings(pairings[start:], count)
        if not drawn or not _may_be_drawn(contest, pairings[:start], drawn, results, changes):
            break
        start += len(drawn)
    if start < len(pairings):
        yield f"round {pairings[start].round} does not follow from the entries and the earlier results"


def _sequential_problems(contest: ContestView, form: Sequential, draws: Iterable[_Draw]) -> Iterator[str]:
    entries = contest.tournament.entries(contest.absent_after(0))
    if len(entries) != form.agents[0]:
        yield f"a sequential test has two agents, contest.json has {len(entries)}"
        return
    names, pairings = {entry.id for entry in entries}, contest.pairings
    agent, place = by_seed(entries)[0].id, {pairing.round: at for at, pairing in enumerate(pairings)}
    states = [form.progress()]
    """By number of pairings."""
    seen: set[GameContent] = set()
    played: dict[int, dict[str, GameResult]] = {}
    start = 0
    for count, results, changed, _ in draws:
        for game, number in changed.items():
            at = place.get(number, len(pairings))
            if game in results:
                played.setdefault(at, {})[game] = results[game]
            else:
                played.get(at, {}).pop(game, None)
            for state in states[at + 1 :]:
                seen -= state.new
            del states[at + 1 :]
        while len(states) <= start and not states[-1].is_decided:
            games = played.get(len(states) - 1, {}).values()
            if len(games) != form.games:
                break
            if any(set(game.agents) != names for game in games):
                yield f"round {pairings[len(states) - 1].round} has results of other agents"
                return
            states.append(form.progress_with(states[-1], games, agent, seen))
            seen |= states[-1].new
        following = form.pairing_after(entries, pairings[start - 1] if start else None)
        may_follow = not states[-1].is_decided and following.round <= form.rounds
        if count != 1 or not may_follow or pairings[start : start + 1] != [following]:
            break
        start += 1
    if start < len(pairings):
        yield f"round {pairings[start].round} does not follow from the entries and the earlier results"


_Draw = tuple[int, Mapping[str, GameResult], Mapping[str, int], int]
"""Number of pairings without byes, results, rounds by game with changed results, number of changed entries."""


def _draws_of_log(contest: ContestView, log: Sequence[JournalLine], outcomes: Outcomes) -> Iterator[_Draw]:
    changed: dict[str, int] = {}
    by_id = {game.id: game for game in contest.games}
    results: dict[str, GameResult] = {}
    changes = 0
    for line in log:
        game = by_id.get(line.game or "")
        match line.change:
            case Disqualified() | Withdrawn() | Entered():
                changes += 1
            case Scheduled(count):
                yield count // contest.snapshot.format.games, results, changed, changes
                changed = {}
            case UnknownLine() if kind_of(line.change) is Scheduled:
                yield 0, results, changed, changes
                changed = {}
            case Annulled() if game is not None:
                results.pop(game.id, None)
                changed[game.id] = game.round
            case Accepted(attempt=attempt) if game is not None:
                if (result := result_of(game, attempt, outcomes)) is not None:
                    results[game.id] = result
                    changed[game.id] = game.round


def _first_pairings(pairings: Sequence[Pairing], count: int) -> list[Pairing]:
    drawn: list[Pairing] = []
    for pairing in pairings:
        if pairing.second is not None:
            if not count:
                break
            count -= 1
        drawn.append(pairing)
    return drawn


def _may_be_drawn(
    contest: ContestView,
    paired: Sequence[Pairing],
    drawn: Sequence[Pairing],
    results: Mapping[str, GameResult],
    changes: int,
) -> bool:
    """Whether all pairings of the next rounds, after this number of changes of the entries, may be these."""
    tournament, absent = contest.tournament, contest.absent_after(changes)
    for lots in _LOTS if tournament.seed is None else (None,):
        following = tournament.next(paired, results.values(), absent, lots)
        further = following[len(drawn) :]
        if following[: len(drawn)] == drawn and not (further and further[0].round == drawn[-1].round):
            return True
    return False


_LOTS = range(16)
"""Seeds that give each lot between two both results, while the secret is unknown."""
