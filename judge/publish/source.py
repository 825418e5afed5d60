"""From what decides a contest to what is published of it; the same whether it comes from a store or from an export.

An export is written from a `ContestSource`; verifying one builds a `ContestSource` from its records, and compares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge.contest.contest import Contest
from judge.contest.points import points_table
from judge.contest.ratings import rate
from judge.contest.results import without
from judge.contest.schedule import Tournament, game_result
from judge.contest.snapshot import Frozen, FrozenEntry
from judge.publish.publication import Participant, Publication, PublishedGame, Uncounted
from judge.referee.chance import Key
from judge.store.types import Ended, JournalLine, MatchState, Paired, Result, Scheduled
from judge.text import duration

OPEN = (MatchState.PENDING, MatchState.RUNNING, MatchState.HELD)
"""The states of a game that may still be played."""


@dataclass(frozen=True, slots=True)
class SourceGame:
    """A game of the schedule: its state, what was said of it last, and its result with the attempt that counts."""

    match: Scheduled
    state: str
    attempt: int
    why: str
    ended: Ended | None
    uncounted: tuple[Uncounted, ...] = ()

    @property
    def result(self) -> Result | None:
        """As the store has it."""
        return None if self.ended is None else Result(self.match, self.attempt, self.ended)


@dataclass(frozen=True, slots=True)
class ContestSource:
    """Everything that what is published follows from.

    `document` is the text of `frozen`; `out` is who was disqualified, in that order, and why; `secret` is what its
    chance follows from, as soon as the contest is over and it may be told.
    """

    frozen: Frozen
    document: str
    pairings: Sequence[Paired]
    games: Sequence[SourceGame]
    out: Mapping[str, str]
    journal: Sequence[JournalLine]
    secret: Key | None = None

    @property
    def results(self) -> list[Result]:
        """The results so far, in the order of the schedule."""
        return [result for game in self.games if (result := game.result) is not None]

    def is_over(self, course: Tournament) -> bool:
        """Whether every game was played, or never will be, and no round follows."""
        if any(game.state in OPEN for game in self.games):
            return False
        return not course.next(self.pairings, self.results, self.out).games


def source_of(contest: Contest) -> ContestSource:
    """A contest as it is in its store now, also while it is played: each thing is read after what hangs on it."""
    store, name = contest.store, contest.name
    attempts = store.attempts(name)
    results = {result.match.id: result for result in store.results(name)}
    pairings = store.paired(name)
    drawn = {(each.round, each.table) for each in pairings}
    counted = {(result.match.id, result.attempt) for result in results.values()}
    uncounted: dict[str, list[Uncounted]] = {}
    for each in attempts:
        if each.record is not None and (each.match, each.number) not in counted:
            uncounted.setdefault(each.match, []).append(Uncounted(each.number, each.state.value, each.why, each.record))
    games = []
    for match, state, attempt, why in store.games(name):
        if (match.round, match.table) not in drawn:
            continue
        result = results.get(match.id)
        if result is None and state is MatchState.DONE:
            # It ended after the results were read.
            state = MatchState.RUNNING
        games.append(
            SourceGame(
                match,
                state.value if result is None else MatchState.DONE.value,
                attempt if result is None else result.attempt,
                why,
                None if result is None else result.ended,
                tuple(uncounted.get(match.id, ())),
            )
        )
    journal = store.journal(name)
    out = _in_order(contest.out(), journal)
    source = ContestSource(contest.frozen, store.plan(name), pairings, games, out, journal)
    return replace(source, secret=contest.secret) if source.is_over(contest.course) else source


def _in_order(out: Mapping[str, str], journal: Sequence[JournalLine]) -> Mapping[str, str]:
    """The disqualified in the order in which the log tells of them."""
    told = [line.text for line in journal if line.event == "disqualified"]

    def place(agent: str) -> int:
        said = f"{agent}: {out[agent]}"
        return told.index(said) if said in told else len(told)

    return {agent: out[agent] for agent in sorted(out, key=lambda agent: (place(agent), agent))}


def publication_of(source: ContestSource) -> Publication:
    """What is published; InputError or ValueError where games and pairings do not fit each other."""
    frozen = source.frozen
    course = Tournament(frozen)
    results = source.results
    played = course.played(source.pairings, results)
    table = course.table(played, source.out)
    counted = [game for each in without(played, source.out) for game in each.games]
    return Publication(
        name=frozen.name,
        about=frozen.about,
        facts=_facts(source),
        participants=[
            _participant(number, entry, source.out.get(entry.name, ""))
            for number, entry in enumerate(frozen.entries, 1)
        ],
        games=_games(source),
        table=table.lines,
        cells=table.crosstable,
        ranking=table.ranking,
        ratings=rate(counted) if counted else None,
        journal=source.journal,
        pairings=source.pairings,
        out=source.out,
    )


def _participant(number: int, entry: FrozenEntry, out: str) -> Participant:
    seat = entry.seat
    return Participant(
        number=number,
        name=entry.name,
        digest=seat.digest,
        seed=entry.rank,
        author=seat.author,
        runtime=seat.runtime,
        protocol=seat.protocol,
        description=entry.description,
        out=out,
    )


def _games(source: ContestSource) -> Sequence[PublishedGame]:
    table = None if source.frozen.duel is not None else points_table(source.frozen.policy)
    games = []
    for game in source.games:
        match, result = game.match, None if game.result is None else game_result(game.result)
        games.append(
            PublishedGame(
                number=match.number,
                match=match.id,
                round=match.round,
                table=match.table,
                game=match.game,
                first=match.first,
                second=match.second,
                state=game.state,
                why=game.why,
                result=result,
                attempt=game.attempt,
                record="" if game.ended is None else game.ended.record,
                seconds=0.0 if game.ended is None else game.ended.seconds,
                points=None if table is None or result is None else table.of(result),
                uncounted=game.uncounted,
            )
        )
    return games


# --- the front page's facts ------------------------------------------------------------------------------------------


def _facts(source: ContestSource) -> Mapping[str, str]:
    frozen, policy = source.frozen, source.frozen.policy
    clock = policy.clock
    options = {
        key: value for key, value in frozen.format.model_dump(mode="json").items() if key not in ("name", "ranking")
    }
    facts = {
        "Game": _listed(policy.game.name, policy.game.options),
        "Policy": policy.name,
        "Format": _listed(frozen.format.model_dump()["name"], options),
        "Time": f"{duration(clock.turn_ms)} a move"
        + (f", {duration(clock.match_ms)} a game" if clock.match_ms else ""),
        "Memory": f"{policy.enforced().memory_bytes >> 20} MiB",
        "Openings": "" if frozen.openings == ((),) else str(len(frozen.openings)),
        "Chance": chance_words(frozen, source.secret),
        "Frozen": frozen.frozen_at.replace("T", " ").removesuffix("+00:00") + " UTC",
        "Judge": frozen.judge,
    }
    facts |= {f"Image {name}": image.content or image.id for name, image in frozen.images.items()}
    facts |= {f"Host {name}": _said(value) for name, value in frozen.host.items()}
    return {name: value for name, value in facts.items() if value}


def chance_words(frozen: Frozen, secret: Key | None) -> str:
    """Where a contest's chance comes from, as far as it may be told; `secret` None: not before the contest is over."""
    if frozen.commitment is None:
        return f"fixed by the organiser: seed {frozen.seed}; whoever knows it can foretell all chance"
    if secret is None:
        return f"secret until the contest is over; its SHA-256 is {frozen.commitment}"
    return f"revealed: {secret}; its SHA-256, {frozen.commitment}, was published from the start"


def _listed(head: str, options: Mapping[str, Any]) -> str:
    said = ", ".join(f"{name} {_said(value)}" for name, value in options.items() if value is not None)
    return f"{head} ({said})" if said else head


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said(each)}" for key, each in value.items())
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
