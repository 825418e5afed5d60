"""A sequential test continues until it is decided. Pairings count in the order of the draw."""

import pytest

from judge.contest_games import GameResult, Pairing
from judge.games.types import Verdict
from judge.statistics.scales import SprtModel
from judge.statistics.sprt import Sprt, SprtDecision
from judge.tournament.formats.sequential import Sequential
from judge.tournament.results import PlayedPairing
from tests.contest.rounds import decided_after, entries

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


@pytest.mark.parametrize(("wins", "decision"), [(8, SprtDecision.H1), (5, SprtDecision.H0)])
def test_a_stronger_agent_and_equal_ones_are_found_out(wins: int, decision: SprtDecision) -> None:
    played = play(wins)

    assert 1 < len(played) < 30
    assert decision is TEST.state(entries(2), played).decision
    assert SprtDecision.GO_ON is TEST.state(entries(2), played[:-1]).decision


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


def test_a_pairing_counts_after_all_earlier_ones_and_not_after_the_decision() -> None:
    played = play(wins=8)
    first = PlayedPairing(played[0].pairing, played[0].games[:-1], (0, 0), is_over=False)
    running = [first, *played[1:]]
    more = [*played, *(round_of(each.pairing, 0) for each in played)]

    assert TEST.state(entries(2), []) == TEST.state(entries(2), running)
    assert [len(played) + 1] == [pairing.round for pairing in TEST.next(entries(2), running, seed=0)]
    assert TEST.state(entries(2), played) == TEST.state(entries(2), more)
    assert len(played) == decided_after(TEST, entries(2), more)
    assert not TEST.next(entries(2), more, seed=0)
