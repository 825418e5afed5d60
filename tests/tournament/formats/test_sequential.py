"""A sequential test continues until it is decided. Pairings count in the order of the draw."""

import heapq
import random
from collections.abc import Callable, Sequence

import pytest

from judge.contest_games import GameResult, Pairing
from judge.games.types import Verdict
from judge.statistics.sprt import Sprt, SprtDecision, SprtModel
from judge.tournament.formats.sequential import Sequential
from judge.tournament.results import PlayedPairing
from tests.contest.rounds import decided_after, entries
from tests.examples import sized

TEST = Sequential(games=10, rounds=30, test=Sprt(elo0=0, elo1=100))


def round_of(pairing: Pairing, wins: int) -> PlayedPairing:
    """A round of ten games, of which the better seed wins so many and loses the others."""
    games = []
    for game in range(TEST.games):
        seats = (pairing.first, str(pairing.second))
        first, second = seats if game % 2 == 0 else seats[::-1]
        winner = "1" if game < wins else "2"
        games.append(GameResult(first, second, winner, Verdict.WIN, round=pairing.round, table=1, leg=game))
    return PlayedPairing(pairing, tuple(games), (wins, TEST.games - wins))


def play(wins: int) -> list[PlayedPairing]:
    played: list[PlayedPairing] = []
    while pairings := TEST.next(entries(2), played, seed=0):
        played.append(round_of(pairings[0], wins))
    return played


@pytest.mark.parametrize("model", ["normalized", "bayesian"])
def test_the_stronger_one_is_found_out_on_other_scales(model: SprtModel) -> None:
    """The pairs of a contest tell which of their games were drawn, which BayesElo's scale needs."""
    test = TEST.model_copy(update={"test": Sprt(elo0=0, elo1=100, model=model)})
    played = play(wins=8)

    assert SprtDecision.H1 is test.state(entries(2), [*played, *played]).decision


def test_the_stronger_one_is_found_out() -> None:
    played = play(wins=8)

    assert 1 < len(played) < 30
    assert SprtDecision.H1 is TEST.state(entries(2), played).decision
    assert SprtDecision.GO_ON is TEST.state(entries(2), played[:-1]).decision


def test_equals_are_found_out() -> None:
    played = play(wins=5)

    assert len(played) < 30
    assert SprtDecision.H0 is TEST.state(entries(2), played).decision


def test_it_ends_undecided_when_its_rounds_are_up() -> None:
    undecided = Sequential(games=2, rounds=3, test=Sprt(elo0=0, elo1=1))
    played: list[PlayedPairing] = []
    while pairings := undecided.next(entries(2), played, seed=0):
        played.append(PlayedPairing(pairings[0], (), (0, 0)))

    assert 3 == len(played)
    assert SprtDecision.GO_ON is undecided.state(entries(2), played).decision


def test_seats_and_openings_change_from_round_to_round() -> None:
    played = play(wins=5)

    assert [0, 1, 2] == [each.pairing.meeting for each in played[:3]]
    assert ["1", "2", "1"] == [each.pairing.first for each in played[:3]]


def test_a_pairing_counts_after_all_earlier_ones() -> None:
    played = play(wins=8)
    first = PlayedPairing(played[0].pairing, played[0].games[:-1], (0, 0), is_over=False)
    running = [first, *played[1:]]

    assert TEST.state(entries(2), []) == TEST.state(entries(2), running)
    assert [len(played) + 1] == [pairing.round for pairing in TEST.next(entries(2), running, seed=0)]


def test_pairings_after_the_decision_do_not_count() -> None:
    decided = play(wins=8)
    losses = [round_of(each.pairing, 0) for each in decided]

    assert TEST.state(entries(2), decided) == TEST.state(entries(2), [*decided, *losses])
    assert len(decided) == decided_after(TEST, entries(2), [*decided, *losses])
    assert not TEST.next(entries(2), [*decided, *losses], seed=0)


# --- games at the same time ------------------------------------------------------------------------------------------

TESTS = sized(40, 2_000)

PAIRS = Sequential(rounds=2000, test=Sprt(elo0=-60, elo1=60, alpha=0.05, beta=0.05))
"""Both hypotheses are equally far from equal agents, so either is accepted in half of the tests."""

SLOTS = 48

Duration = Callable[[float], float]
"""Seconds of a pair from the first agent's score in it, 0 to 2."""

DURATIONS: dict[str, Duration] = {
    "equal": lambda _: 1,
    "wins are short": lambda score: 1 if score > 1 else 100,
    "losses are short": lambda score: 1 if score < 1 else 30,
    "draws are long": lambda score: 50 if score == 1 else 1,
}


def results_of(pairing: Pairing, stream: int) -> PlayedPairing:
    """Two games of equal agents. They depend on the pairing alone, whenever it is played."""
    chance = random.Random(f"{stream} {pairing.round}")
    games = []
    for leg in range(2):
        winner = chance.choice(["1", "2", None])
        seats = ("1", "2") if leg == 0 else ("2", "1")
        verdict = Verdict.DRAW if winner is None else Verdict.WIN
        games.append(GameResult(*seats, winner, verdict, round=pairing.round, table=1, leg=leg))
    return PlayedPairing(pairing, tuple(games), (0, 0))


def score(pairing: PlayedPairing) -> float:
    return sum(game.scores[game.agents.index("1")] for game in pairing.games)


def simulate(stream: int, duration: Duration, slots: int = SLOTS) -> tuple[list[PlayedPairing], list[PlayedPairing]]:
    """Play until the test is decided: the pairings in the order of the draw, and in the order of their ends."""
    played: list[PlayedPairing] = []
    ended: list[PlayedPairing] = []
    running: list[tuple[float, int]] = []
    now = 0.0
    while True:
        while len(running) < slots and (pairings := PAIRS.next(entries(2), played, seed=0)):
            (pairing,) = pairings
            played.append(PlayedPairing(pairing, (), (0, 0), is_over=False))
            heapq.heappush(running, (now + duration(score(results_of(pairing, stream))), len(played) - 1))
        if not running:
            return played, ended
        now, at = heapq.heappop(running)
        played[at] = results_of(played[at].pairing, stream)
        ended.append(played[at])


@pytest.mark.slow
@pytest.mark.parametrize("duration", DURATIONS.values(), ids=DURATIONS)
def test_the_duration_of_games_does_not_change_the_decision(duration: Duration) -> None:
    for stream in range(20):
        one_by_one, _ = simulate(stream, DURATIONS["equal"], slots=1)
        played, _ = simulate(stream, duration)

        assert PAIRS.state(entries(2), one_by_one) == PAIRS.state(entries(2), played)
        assert len(one_by_one) == decided_after(PAIRS, entries(2), played)
        assert one_by_one == played[: len(one_by_one)]


@pytest.mark.slow
def test_the_duration_of_games_does_not_change_the_error_rates() -> None:
    """The order of ends is the control: short wins decide for the agent that they favour."""
    one_by_one, in_order, by_ends = 0, 0, 0

    def accepts_h1(played: Sequence[PlayedPairing]) -> bool:
        return PAIRS.state(entries(2), played).decision is SprtDecision.H1

    for stream in range(TESTS):
        played, ended = simulate(stream, DURATIONS["wins are short"])
        one_by_one += accepts_h1(simulate(stream, DURATIONS["equal"], slots=1)[0])
        in_order += accepts_h1(played)
        by_ends += accepts_h1(ended)

    assert in_order == one_by_one
    assert 0.3 < in_order / TESTS < 0.7
    assert by_ends / TESTS > 0.8
