"""Stratego under the referee that knows no game: whole games of scripted agents, their clocks, deaths and replays."""

from collections.abc import Sequence
from typing import Any

import pytest

from judge.catalog.files import steps_of
from judge.formats.stratego.log import log_of_record, read_log, replay_stratego_log, write_log
from judge.games.stratego import Stratego
from judge.games.types import BothAtFault, Verdict
from judge.record.policy import Policy, load_policy
from judge.record.spec import GameSpec, RecordFile
from judge.record.transcript import EntryKind
from judge.referee.verify import verify
from judge.testing import Act, Agent, Say, ScriptedGame, World, dies, exits, scripted_seats
from tests.games.stratego_positions import FULL_BLUE, FULL_RED
from tests.publish.cups import voided
from tests.referee.games import Game

NAMES = ("./red", "./blue")


def agent(
    *turns: str | Sequence[Act], rows: Sequence[str] = FULL_RED, setup: Sequence[Act] | None = None, ms: float = 1.0
) -> Agent:
    """Sets up `rows` and, on each board, says the next of `turns` (or does it); exits when it is told to quit."""
    left = iter(turns)
    board_lines = 0

    def hear(line: str) -> Sequence[Act]:
        nonlocal board_lines
        word = line.split(" ")[0]
        if word in ("RED", "BLUE"):
            return [Say(f"{row}\n".encode(), ms) for row in rows] if setup is None else setup
        if word == "QUIT":
            return exits(0)
        board_lines += len(line) == 10 and set(line) <= set(".+#123456789sBF")
        if board_lines < 10:
            return []
        board_lines = 0
        turn = next(left, ())
        return [Say(f"{turn}\n".encode(), ms)] if isinstance(turn, str) else turn

    return hear


def spec(policy: str = "stratego-2012", **sections: dict[str, Any]) -> GameSpec:
    document = load_policy(policy).model_dump()
    for section, values in sections.items():
        document[section] |= values
    return GameSpec(seats=scripted_seats("stratego", NAMES), policy=Policy.model_validate(document), seed=7)


class StrategoGame(Game):
    def __init__(self, red_agent: Agent, blue_agent: Agent, game_spec: GameSpec | None = None) -> None:
        super().__init__(World(red_agent, blue_agent), game_spec or spec())

    @property
    def rules(self) -> Stratego:
        game = self.referee.game
        assert isinstance(game, Stratego)
        return game

    @property
    def result(self) -> str:
        return self.rules.result(NAMES)

    def lines_without_boards(self, seat: int) -> list[str]:
        """The lines of a seat, without the boards."""
        return [line for line in self.heard(seat) if " " in line or line == "START"]


def play(
    *turns: str | Sequence[Act],
    setup: Sequence[Act] | None = None,
    against: Agent | None = None,
    game_spec: GameSpec | None = None,
) -> StrategoGame:
    """RED does this, with all forty pieces; BLUE sets up, and says no more."""
    return StrategoGame(agent(*turns, setup=setup), against or agent(rows=FULL_BLUE), game_spec)


def test_a_whole_game() -> None:
    """What each side hears, in order; both are thawed for QUIT and leave by themselves."""
    blue_agent = agent("9 6 UP", "9 5 UP", rows=FULL_BLUE)
    played = play("0 3 DOWN", "0 4 DOWN 2", "SURRENDER", against=blue_agent)

    assert (Verdict.RESIGNED, 1) == (played.verdict, played.winner)
    quit_line = "QUIT ./red RED SURRENDER 3 146 146"
    confirmed = ["0 3 DOWN OK", "9 6 UP OK", "0 4 DOWN 2 BOTHDIE 9 9", "9 5 UP OK"]
    assert ["RED ./blue 10 10", "START", *confirmed, quit_line] == played.lines_without_boards(0)
    assert ["BLUE ./red 10 10", *confirmed, quit_line] == played.lines_without_boards(1)
    assert [] == played.world.killed
    assert [Verdict.RESIGNED, None] == played.faults


def lines(*texts: str, ms: float) -> list[Act]:
    return [Say(f"{text}\n".encode(), ms) for text in texts]


def test_every_set_up_row_has_the_whole_limit() -> None:
    """2 s each: four rows of 1.9 s are in time, one of 2.1 s is not."""
    slow = play("SURRENDER", setup=lines(*FULL_RED, ms=1900))
    late = play(setup=[*lines("FB8sB479B8", ms=1900), *lines("BB31555583", ms=2100)])

    assert Verdict.RESIGNED is slow.verdict
    assert [1900] * 4 == slow.charged_ms(0)[:4]
    late.assert_lost(0, Verdict.TURN_TIME)
    assert "./red RED BAD_SETUP 0 0 148" == late.result


def test_the_limit_is_for_the_whole_line_and_not_for_its_first_byte() -> None:
    played = play([Say(b"0 3 ", 1000), Say(b"DO", 900), Say(b"WN\n", 200)])

    played.assert_lost(0, Verdict.TURN_TIME)
    assert "./red RED ILLEGAL 1 148 148" == played.result


def test_a_whole_game_that_is_sent_at_once_is_played_line_by_line() -> None:
    """RED sends all it will ever say with its first row; the boards are sent to it all the same."""
    moves = ["0 3 DOWN", "0 4 UP", "0 3 DOWN", "SURRENDER"]
    burst = "".join(f"{line}\n" for line in (*FULL_RED, *moves)).encode()
    played = play(setup=[Say(burst, 1500)], against=agent("9 6 UP", "9 5 DOWN", "9 6 UP", rows=FULL_BLUE))

    assert "./red RED SURRENDER 4 148 148" == played.result
    assert [1500, *[0] * 7] == played.charged_ms(0)


@pytest.mark.parametrize(
    ("red_setup", "blue_setup", "faults", "result"),
    [
        (None, dies(11), [None, Verdict.CRASH], "./blue BLUE BAD_SETUP 0 148 0"),
        ([], exits(0), [Verdict.TURN_TIME, Verdict.CRASH], "neither BOTH BAD_SETUP 0 0 0"),
    ],
)
def test_seat_failing_in_setup_does_not_stop_the_other_setup(
    red_setup: Sequence[Act] | None, blue_setup: Sequence[Act] | None, faults: list[Verdict | None], result: str
) -> None:
    played = play(setup=red_setup, against=agent(rows=FULL_BLUE, setup=blue_setup))

    assert faults == played.faults
    assert result == played.result
    assert "BLUE ./red 10 10" in played.lines_without_boards(1)
    if None not in faults:
        assert isinstance(played.end, BothAtFault)
        assert played.winner is None


def test_seat_that_failed_in_setup_stays_frozen_while_the_other_is_asked() -> None:
    played = play(setup=[], against=agent(rows=FULL_BLUE, ms=500))

    kinds = [entry.kind for entry in played.world.entries if entry.seat == 0]
    first_thaw = kinds.index(EntryKind.THAWED)
    assert EntryKind.FROZEN in kinds[first_thaw : kinds.index(EntryKind.THAWED, first_thaw + 1)]


def test_seat_that_dies_in_the_opponents_turn_is_judged_at_its_next_request() -> None:
    """BLUE's answer stands, and RED's death is RED's."""
    played = play([Say(b"0 3 DOWN\n", 1), *exits(0)], against=agent("9 6 UP", rows=FULL_BLUE))

    played.assert_lost(0, Verdict.CRASH, "exited with code 0")
    assert ["0 3 DOWN OK", "9 6 UP OK", "QUIT ./red RED ILLEGAL 2 148 148"] == played.lines_without_boards(1)[-3:]


def test_agent_ignoring_quit_is_killed_within_two_seconds() -> None:
    def deaf(line: str) -> Sequence[Act]:
        return [] if line.startswith("QUIT") else hears(line)

    hears = agent("0 3 DOWN")
    played = StrategoGame(deaf, agent("SURRENDER", rows=FULL_BLUE))

    assert [0] == played.world.killed
    moments = [entry.ns for entry in played.world.entries if entry.seat == 0]
    assert 2_000_000_000 == moments[-1] - moments[-3]


def test_equal_ranks_are_decided_by_the_game_seed() -> None:
    """The same spec, the same luck; each game is played a second time from its transcript."""

    def luck(seed: int) -> str:
        fighters = agent("0 3 DOWN 3", "SURRENDER"), agent("1 6 UP", rows=FULL_BLUE)
        game = StrategoGame(*fighters, spec("stratego-seed").model_copy(update={"seed": seed}))
        return game.lines_without_boards(0)[2]

    lucks = [luck(seed) for seed in range(12)]
    assert lucks == [luck(seed) for seed in range(12)]
    assert {"0 3 DOWN 3 KILLS 9 9", "0 3 DOWN 3 DIES 9 9"} == set(lucks)


@pytest.mark.parametrize("policy", ["stratego-seed", "stratego-2011", "stratego-2012"])
def test_game_log_is_made_from_its_record(policy: str) -> None:
    """Answers, tosses, a fault: the record has all that the log needs, and the log replays."""
    fighters = [
        *((agent("0 3 DOWN 3", then), agent("1 6 UP", rows=FULL_BLUE)) for then in ("SURRENDER", [], exits(1))),
        *((agent(turn), agent(rows=FULL_BLUE)) for turn in ("0 5 DOWN", "0 3 DOWN " + " " * 2000)),
        (agent("0 3 DOWN 2 \x01"), agent("what", rows=FULL_BLUE)),
        (agent(setup=[Say(b"FB8sB479B8\n")]), agent(rows=FULL_BLUE)),
        (agent(setup=[]), agent(rows=("x",) * 4)),
    ]
    for red_agent, blue_agent in fighters:
        played = StrategoGame(red_agent, blue_agent, spec(policy))
        data = log_of_record(steps_of(RecordFile.model_validate_json(played.file().to_json())))
        assert write_log(played.rules, NAMES) == data
        if None not in (log := read_log(data)).setups:
            assert played.result == replay_stratego_log(log, played.rules.options).result(NAMES)


def test_a_void_game_has_a_log_without_an_end() -> None:
    void = voided(play("0 3 DOWN", against=agent("SURRENDER", rows=FULL_BLUE)).file())

    assert [] == verify(void).problems
    log = log_of_record(steps_of(void))
    assert b"RED SETUP" in log
    assert b"SURRENDER" not in log


@pytest.mark.parametrize("policy", ["stratego-seed", "stratego-2011", "stratego-2012"])
def test_policy_sets_the_points_of_each_outcome(policy: str) -> None:
    points = load_policy(policy).points

    extra_words = {"stratego-seed": "DEFEAT DEFAULT", "stratego-2011": "INTERNAL_ERROR", "stratego-2012": "BAD_SETUP"}
    words = f"VICTORY SURRENDER DRAW DRAW_DEFAULT ILLEGAL BOTH_ILLEGAL {extra_words[policy]}"
    assert {*words.split()} <= points.keys()
    # Whoever is named, the same game scores the same.
    for word, mirrored in (("VICTORY", "DEFEAT"), ("ILLEGAL", "DEFAULT")):
        if mirrored in points:
            assert points[word] == points[mirrored][::-1]


def test_variants_of_a_policy_are_also_games() -> None:
    for name in ("stratego-seed:tolerant", "stratego-2011:tolerant", "stratego-2012:tolerant"):
        assert Stratego.from_options(load_policy(name).game.options).options.tolerate_illegal
    full, tenth = (load_policy(f"stratego-2012{variant}").points for variant in ("", ":preliminary"))
    for word, (named, other) in full.items():
        assert [named / 10, other / 10] == pytest.approx(list(tenth[word]))


@pytest.mark.parametrize("ms", [0, 1, 30])
def test_rows_that_come_after_their_deadline_are_set_aside(ms: float) -> None:
    """The other side is still asked for its rows while they are read: out of a pipe, or of a box that is not frozen."""
    late = [Say(b"FB8sB479B8\n", 2000.5), *lines(*FULL_RED, ms=ms)]
    world = World(agent(setup=late), agent(rows=FULL_BLUE, ms=10), ponders=True)
    played = ScriptedGame(world, spec())

    assert [Verdict.TURN_TIME, None] == played.faults
    assert not [ply for ply in played.referee.plies if ply.seat == 0]
    assert "late: 11 bytes that came after its fault" in [note.text for note in played.referee.sides[0].notes]
