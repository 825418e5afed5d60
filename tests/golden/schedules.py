"""A digest of the schedules of each format, with results that a fixed rule gives: the same seed, the same games."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from judge.contest_games import Outcome, ScheduledGame
from judge.statistics.sprt import Sprt
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.gauntlet import Gauntlet
from judge.tournament.formats.groups import Groups, Leagues
from judge.tournament.formats.knockout import Knockout
from judge.tournament.formats.ladder import Ladder
from judge.tournament.formats.round_robin import DoubleRoundRobin, RoundRobin
from judge.tournament.formats.sequential import Sequential
from judge.tournament.formats.swiss import Swiss
from judge.tournament.skipped_pairs import Skip, SourcedRating
from tests.contest.cups import COMMITTED, cup, play, won_by

_SKIP = Skip(agents={str(agent): SourcedRating(rating=2000 - 150 * agent, reason="a list") for agent in range(1, 7)})

CASES: Mapping[str, tuple[AnyFormat, tuple[int, ...]]] = {
    "round-robin": (RoundRobin(games=1), (2, 5, 8)),
    "round-robin, 3 cycles": (RoundRobin(games=2, cycles=3), (4, 5)),
    "round-robin, skip": (RoundRobin(games=2, skip=_SKIP), (6, 7)),
    "double-round-robin": (DoubleRoundRobin(games=3), (3, 6)),
    "gauntlet": (Gauntlet(games=2), (2, 6)),
    "gauntlet, 3 challengers": (Gauntlet(games=1, challengers=3), (4, 7)),
    "swiss, 1 game": (Swiss(games=1, rounds=6), (4, 7, 12)),
    "swiss, 2 games": (Swiss(games=2, rounds=5), (3, 8, 11)),
    "knockout": (Knockout(games=2), (2, 5, 8, 13)),
    "knockout, 1 game, 2 replays": (Knockout(games=1, replays=2), (6, 16)),
    "groups": (Groups(games=2), (4, 9)),
    "groups, 3 of 2 cycles": (Groups(games=1, groups=3, promoted=1, cycles=2), (7, 11)),
    "leagues": (Leagues(games=2, sizes=(3, 3), promoted=2), (5, 9)),
    "leagues, new agents": (Leagues(games=2, sizes=(3, 4), promoted=1, promotes_new=True, skip=_SKIP), (8, 10)),
    "sprt": (Sequential(games=20, rounds=9, test=Sprt(elo0=0, elo1=80)), (2,)),
    "sprt, 2 games": (Sequential(games=2, rounds=40, test=Sprt(elo0=-200, elo1=200)), (2,)),
    "ladder": (Ladder(total_games=60), (8,)),
}

VARIANTS = (
    *("round-robin, 3 cycles", "round-robin, skip", "gauntlet, 3 challengers", "swiss, 2 games", "sprt"),
    *("knockout, 1 game, 2 replays", "groups, 3 of 2 cycles", "leagues, new agents"),
)
"""Cases of formats that have another one."""

Schedule = list[tuple[int, int, int, int, str, str]]
"""For each game its number, round, table and leg, and its two agents."""

_CHANCES: Mapping[str, Mapping[str, Any]] = {"secret": COMMITTED, "seed 1": {"seed": 1}, "seed 2": {"seed": 2}}


def rule(game: ScheduledGame) -> Outcome:
    """The better seed wins more often. Independent of policies, so that their changes do not change a schedule."""
    text = f"{game.first} {game.second} {game.number}"
    drawn = hashlib.sha256(text.encode()).digest()[0]
    better = int(int(game.first) > int(game.second))
    return won_by(None if drawn < 60 else better if drawn < 190 else 1 - better)


def schedules_text(*, are_variants: bool) -> str:
    """A line for each case, of `VARIANTS` or of the others: the number of games and the SHA-256 of the schedules."""
    return "".join(_digest(case) for case in CASES if (case in VARIANTS) == are_variants)


def _digest(case: str) -> str:
    schedules = list(_case(case))
    digest = hashlib.sha256(repr(schedules).encode()).hexdigest()
    return f"{case}: {sum(map(len, schedules))} games, {digest}\n"


def _case(case: str) -> Iterator[Schedule]:
    form, sizes = CASES[case]
    for size in sizes:
        # The other formats use no chance.
        for chance in _CHANCES if isinstance(form, Swiss | Ladder) else ("secret",):
            yield _played(form, size, _CHANCES[chance])
        if size == sizes[-1] > 2:
            out = str(size // 2)
            yield _played(form, size, COMMITTED, out)


def _played(form: AnyFormat, size: int, changes: Mapping[str, Any], out: str = "") -> Schedule:
    with cup(form, size, **changes) as contest:
        if out:
            play(contest, rule, 2 * size)
            contest.store.disqualify(contest.name, out, "two entries")
        play(contest, rule)
        games = contest.store.games(contest.name)
        assert contest.is_over()
    return [(game.number, game.round, game.table, game.leg, game.first, game.second) for game in games]
