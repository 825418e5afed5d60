"""What the contest tests share: entries a, b, c..., games in one word, and a contest played to its end."""

from collections.abc import Callable, Sequence

from judge.contest_games import GameResult, Pairing
from judge.games.types import Verdict
from judge.statistics.sprt import SprtDecision
from judge.tournament.formats import TournamentFormat
from judge.tournament.formats.base import Competitor
from judge.tournament.formats.sequential import Sequential
from judge.tournament.results import PlayedPairing

Points = tuple[float, float]
Play = Callable[[Pairing], Points]
"""What the first and the second of a pairing score."""


def entries(count: int, out: Sequence[int] = ()) -> list[Competitor]:
    """Agents 1, 2, 3... by their seeds; those of `out` are disqualified."""
    return [Competitor(str(seed), seed, active=seed not in out) for seed in range(1, count + 1)]


def better_seed_wins(pairing: Pairing) -> Points:
    if pairing.second is None or int(pairing.first) < int(pairing.second):
        return 2, 0
    return 0, 2


def everything_is_drawn(pairing: Pairing) -> Points:
    """Nobody can win; a bye is two points all the same."""
    return (2, 0) if pairing.second is None else (1, 1)


def play_out(
    chosen: TournamentFormat, agents: Sequence[Competitor], play: Play = better_seed_wins, seed: int = 0
) -> list[PlayedPairing]:
    played: list[PlayedPairing] = []
    while pairings := chosen.next(agents, played, seed):
        assert len(played) < 10_000, "the contest does not end"
        played += [PlayedPairing(pairing, (), play(pairing)) for pairing in pairings]
    return played


def decided_after(form: Sequential, agents: Sequence[Competitor], played: Sequence[PlayedPairing]) -> int | None:
    """The number of pairings that decided a sequential test."""
    for count in range(len(played) + 1):
        if form.state(agents, played[:count]).decision is not SprtDecision.GO_ON:
            return count
    return None


def of_round(played: Sequence[PlayedPairing], number: int) -> list[str]:
    """The pairings of a round, such as `1-4`; `3-` is a bye."""
    return [f"{each.pairing.first}-{each.pairing.second or ''}" for each in played if each.pairing.round == number]


def leans(played: Sequence[PlayedPairing]) -> dict[str, int]:
    """How much oftener each agent sat first than second."""
    lean: dict[str, int] = {}
    for each in played:
        if each.pairing.second is not None:
            lean[each.pairing.first] = lean.get(each.pairing.first, 0) + 1
            lean[each.pairing.second] = lean.get(each.pairing.second, 0) - 1
    return lean


def game(text: str, verdict: Verdict = Verdict.WIN, number: int = 0) -> GameResult:
    """A game such as `a>b` (a, who sat first, won), `a<b` or `a=b`."""
    sign = next(letter for letter in text if letter in "<>=")
    first, second = text.split(sign)
    winner = {">": first, "<": second, "=": None}[sign]
    word = Verdict.DRAW if sign == "=" else verdict
    return GameResult(first, second, winner, word, leg=number)


def games(text: str) -> list[GameResult]:
    """Games such as `a>b a=c`; `a>b*3` is one that came three times."""
    found: list[GameResult] = []
    for word in text.split():
        one, _, times = word.partition("*")
        found += [game(one)] * int(times or 1)
    return found
