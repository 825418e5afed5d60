"""The states of a seat: its table, and what an impossible transition does."""

from collections.abc import Sequence
from itertools import product

import pytest

from judge.games.types import Verdict
from judge.record.transcript import EntryKind
from judge.referee.side import LIVING, TRANSITIONS, SeatState, SeatStateError
from judge.testing import Act, Say, World, exits
from tests.referee.games import Game, brain, play, spec

END = frozenset({SeatState.EXITED, SeatState.KILLED})


@pytest.mark.parametrize(("before", "after"), list(product(SeatState, SeatState)))
def test_transition_that_is_not_in_the_table_is_refused(before: SeatState, after: SeatState) -> None:
    side = play(brain(), brain()).referee.sides[0]
    side.state = before
    if after in TRANSITIONS[before]:
        side.enter(after)
        assert after is side.state
    else:
        with pytest.raises(SeatStateError, match=f"is {before} cannot become {after}"):
            side.enter(after)


def test_every_state_has_a_row_and_every_living_one_may_end() -> None:
    assert set(SeatState) == set(TRANSITIONS)
    assert set(SeatState) == {*LIVING, *END, SeatState.UNOPENED}
    assert all(END <= set(TRANSITIONS[state]) for state in LIVING)
    assert {side.state for side in play(brain(), brain()).referee.sides} <= END


def test_seat_that_was_closed_for_a_smaller_board_and_is_not_open_again_gets_no_goodbye() -> None:
    first, second = brain(), brain(START=[Say(b"ERROR too large\r\n")])
    dying = brain(START=exits(3))
    starts: list[str] = []

    def closed_and_dying(line: str) -> Sequence[Act]:
        starts.extend([line] if line.startswith("START") else [])
        return (dying if len(starts) == 2 else first)(line)

    options = {"name": "gomoku", "options": {"width": 20, "height": 20, "other_sizes": [15]}}
    played = play(closed_and_dying, second, spec(game=options))

    played.assert_lost(0, Verdict.CRASH)
    assert ["START 20", "START 15"] == starts
    of_second = [entry.kind for entry in played.world.entries if entry.seat == 1]
    assert EntryKind.THAWED not in of_second[of_second.index(EntryKind.REPORT) :]


def test_late_answer_of_a_seat_whose_opening_a_fault_of_its_opponent_interrupted_is_ignored() -> None:
    world = World(brain(END=[]), brain(START=[Say(b"OK\r\n", 150)]))
    world.stopped_cpu_ms = {0: [25]}
    played = Game(world, spec(clock={"start_ms": 100}))

    played.assert_lost(0, Verdict.TURN_TIME, "did not stop")
    assert "" == played.referee.unclosed
    read = [entry.data for entry in world.entries if (entry.seat, entry.kind) == (1, EntryKind.READ)]
    assert b"OK\r\n" == read[0]
