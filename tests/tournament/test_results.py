"""Results of games, from records too, and who fails so often that it is disqualified."""

from judge.contest_games import GameResult, Pairing
from judge.games.types import Verdict
from judge.tournament.results import PlayedPairing, SideScore, failure_shares, without
from tests.contest.rounds import game, games


def over(results: list[GameResult], limit: float = 0.1) -> frozenset[str]:
    """Who failed in more than a share of its games."""
    return frozenset(agent for agent, share in failure_shares(results).items() if share > limit)


def failed(text: str, verdict: Verdict) -> GameResult:
    """The loser of `text` is at fault."""
    played = game(text, verdict)
    lost = played.winner == played.first
    faults = (None, verdict) if lost else (verdict, None)
    return GameResult(played.first, played.second, played.winner, verdict, faults=faults)


def test_more_than_a_tenth_of_failures_disqualifies() -> None:
    """Gomocup: strictly more. a failed in 1 of 10 games, b in 2 of 19, c in 1 of 9."""
    results = [
        failed("a<b", Verdict.TURN_TIME),
        *games("a>b*9"),
        failed("b<c", Verdict.CRASH),
        failed("c>b", Verdict.ILLEGAL),
        failed("b>c", Verdict.MEMORY),
        *games("c>b*6"),
    ]

    assert {"a": 1 / 10, "b": 2 / 19, "c": 1 / 9} == failure_shares(results)
    assert {"b", "c"} == over(results)
    assert {"a", "b", "c"} == over(results, 0.05)


def test_both_may_fail_in_one_game_and_a_foul_and_a_resignation_are_no_failures() -> None:
    both = GameResult("a", "b", None, Verdict.ILLEGAL, faults=(Verdict.ILLEGAL, Verdict.ILLEGAL))

    assert {"a", "b"} == over([both])
    for verdict in (Verdict.FOUL, Verdict.RESIGNED):
        assert frozenset() == over([failed("a<b", verdict)])


def test_a_failure_after_a_won_game_counts_and_the_win_too() -> None:
    """Its box ran on when it had to be gone."""
    won = GameResult("a", "b", "a", Verdict.WIN, faults=(Verdict.TURN_TIME, None))
    score = SideScore()
    score.count(won, 0)

    assert {"a": 1.0, "b": 0.0} == failure_shares([won])
    assert SideScore(wins=1, failures=1) == score


def test_games_of_a_disqualified_agent_count_for_no_agent() -> None:
    met = [Pairing("a", "b", 1, 1), Pairing("c", "d", 1, 2), Pairing("b", None, 2, 1)]
    played = [PlayedPairing(pairing, (), (1, 0)) for pairing in met]

    assert [met[1]] == [each.pairing for each in without(played, {"b"})]
