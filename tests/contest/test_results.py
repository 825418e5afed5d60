"""Results of games, from records too, and who fails so often that it is disqualified."""

import pytest

from judge.contest.pairings import Fixture, Pairing
from judge.contest.results import (
    GameResult,
    PlayedPairing,
    disqualified,
    failure_shares,
    result_of,
    without,
)
from judge.games.types import Verdict
from judge.referee.policy import load_policy
from judge.referee.spec import MatchRecord, MatchSpec, Placement, PlyRecord, SeatRecord, SeatSpec
from tests.contest.rounds import game, games


def record(verdict: Verdict, winner: int | None, fault: Verdict | None = None) -> MatchRecord:
    """A game of two replies of seat 0 and one of seat 1, which is at fault if anybody is."""
    seat = SeatSpec(name="n", digest="d", command=("c",), runtime="native", protocol="gomocup")
    sat = SeatRecord(
        name="n", fault=None, why="", evidence=None, charged_ms=12.5, memory_peak_bytes=None,
        cpu_ms=None, about={}, notes=(),
    )  # fmt: skip
    return MatchRecord(
        judge="0",
        id="0" * 20,
        attempt=1,
        spec=MatchSpec(seats=(seat, seat), policy=load_policy("gomocup-freestyle")),
        verdict=verdict,
        winner=winner,
        reason="words",
        result="",
        seats=(sat, sat.model_copy(update={"fault": fault, "charged_ms": 7.0})),
        plies=tuple(PlyRecord(seat=number, said="", ms=1) for number in (0, 1, 0)),
        started_at="",
        seconds=1,
        placement=Placement(box=(), judge_cores=(), slot_cores=()),
        transcript_sha256="",
    )


def test_a_record_becomes_a_result_of_agents() -> None:
    fixture = Fixture("x", "y", 3, 2, 1, 0)

    assert GameResult(
        first="x",
        second="y",
        winner="x",
        verdict=Verdict.CRASH,
        reason="words",
        faults=(None, Verdict.CRASH),
        replies=(2, 1),
        charged_ms=(12.5, 7.0),
        round=3,
        table=2,
        game=1,
    ) == result_of(fixture, record(Verdict.CRASH, 0, Verdict.CRASH))


def test_a_void_is_no_result() -> None:
    with pytest.raises(ValueError, match="a void is no result"):
        result_of(Fixture("x", "y", 1, 1, 0, 0), record(Verdict.VOID, None))


def test_only_who_played_can_have_won() -> None:
    with pytest.raises(ValueError, match="'c' won a game of 'a' and 'b'"):
        GameResult("a", "b", "c", Verdict.WIN)


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
    assert {"b", "c"} == disqualified(results)
    assert {"a", "b", "c"} == disqualified(results, limit=0.05)


@pytest.mark.parametrize("verdict", [Verdict.FOUL, Verdict.RESIGNED])
def test_a_foul_and_a_resignation_are_losses_and_no_failures(verdict: Verdict) -> None:
    assert frozenset() == disqualified([failed("a<b", verdict)])


def test_both_may_fail_in_one_game() -> None:
    both = GameResult("a", "b", None, Verdict.ILLEGAL, faults=(Verdict.ILLEGAL, Verdict.ILLEGAL))

    assert {"a", "b"} == disqualified([both])


def test_the_games_of_who_is_disqualified_count_for_nobody() -> None:
    met = [Pairing("a", "b", 1, 1), Pairing("c", "d", 1, 2), Pairing("b", None, 2, 1)]
    played = [PlayedPairing(pairing, (), (1, 0)) for pairing in met]

    assert [met[1]] == [each.pairing for each in without(played, {"b"})]
