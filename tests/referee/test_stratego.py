"""Stratego under the referee that knows no game: whole games of scripted agents, their clocks, deaths and replays."""

from collections.abc import Sequence
from typing import Any

import pytest

from judge.games.stratego import Stratego
from judge.games.types import BothAtFault, RuleResult, Verdict
from judge.records.stratego.log import read_log, write_log
from judge.records.stratego.replay import log_of_record, replay_stratego_log
from judge.referee.policy import Policy, load_policy
from judge.referee.spec import GameSpec, RecordFile, SeatSpec
from judge.referee.transcript import EntryKind, seal
from judge.referee.verify import verify
from judge.sandbox.box import Readings
from judge.testing import Act, Agent, Say, ScriptedGame, World, dies, exits
from tests.games.stratego_positions import FULL_BLUE, FULL_RED, blue, red
from tests.publish.cups import voided
from tests.referee.games import a_record

NAMES = ("./red", "./blue")


def agent(
    *turns: str | Sequence[Act],
    rows: Sequence[str] = FULL_RED,
    setup: Sequence[Act] | None = None,
    ms: float = 1.0,
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
    seat = {"digest": "0" * 64, "command": ("./a",), "runtime": "native", "protocol": "stratego"}
    return GameSpec(
        seats=(SeatSpec(name=NAMES[0], **seat), SeatSpec(name=NAMES[1], **seat)),  # type: ignore[arg-type]
        policy=Policy.model_validate(document),
        seed=7,
    )


class Game(ScriptedGame):
    """A refereed game, played a second time from its own transcript, with what each side heard."""

    def __init__(self, red_agent: Agent, blue_agent: Agent, game_spec: GameSpec | None = None) -> None:
        self.spec = game_spec or spec()
        super().__init__(World(red_agent, blue_agent), self.spec)

    @property
    def rules(self) -> Stratego:
        game = self.referee.game
        assert isinstance(game, Stratego)
        return game

    @property
    def result(self) -> str:
        return self.rules.result(NAMES)

    def heard(self, seat: int) -> list[str]:
        """The lines of a seat, without the boards."""
        return [line for line in self.world.bodies[seat].heard if " " in line or line == "START"]

    def file(self) -> RecordFile:
        """As a played game is recorded."""
        sealed = seal(self.world.entries)
        return RecordFile(record=a_record(self.spec, self.end, self.referee, sealed), transcript=sealed)


def test_a_whole_game() -> None:
    """What each side hears, in order; both are thawed for QUIT and leave by themselves."""
    played = Game(agent("0 3 DOWN", "0 4 DOWN 2", "SURRENDER"), agent("9 6 UP", "9 5 UP", rows=FULL_BLUE))

    assert (Verdict.RESIGNED, 1) == (played.verdict, played.winner)
    quit_line = "QUIT ./red RED SURRENDER 3 146 146"
    confirmed = ["0 3 DOWN OK", "9 6 UP OK", "0 4 DOWN 2 BOTHDIE 9 9", "9 5 UP OK"]
    assert ["RED ./blue 10 10", "START", *confirmed, quit_line] == played.heard(0)
    assert ["BLUE ./red 10 10", *confirmed, quit_line] == played.heard(1)
    assert [] == played.world.killed
    assert [Verdict.RESIGNED, None] == played.faults


def test_game_ended_by_the_rules_has_no_fault() -> None:
    tiny = spec(game={"options": {"rules": "stratego-2012", "partial_setup": True}})
    played = Game(
        agent("0 3 DOWN", "0 4 DOWN", rows=red(x0y3="3")),
        agent("0 6 UP", rows=blue(x0y6="5")),
        tiny,
    )

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert [None, None] == played.faults
    assert "QUIT ./red RED VICTORY 2 8 0" == played.heard(1)[-1]
    assert "0 4 DOWN KILLS 3 5" not in played.heard(1)


def test_every_set_up_row_has_the_whole_limit() -> None:
    """2 s each: four rows of 1.9 s are in time, one of 2.1 s is not."""
    slow = agent("SURRENDER", setup=[Say(f"{row}\n".encode(), 1900) for row in FULL_RED])
    played = Game(slow, agent(rows=FULL_BLUE))
    assert Verdict.RESIGNED is played.verdict
    assert [1_900_000_000] * 4 == [ply.charged_ns for ply in played.referee.plies if ply.seat == 0][:4]

    late = agent(setup=[Say(b"FB8sB479B8\n", 1900), Say(b"BB31555583\n", 2100)])
    played = Game(late, agent(rows=FULL_BLUE))
    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)
    assert "./red RED BAD_SETUP 0 0 148" == played.result


def test_the_limit_is_for_the_whole_line_and_not_for_its_first_byte() -> None:
    drip = [Say(b"0 3 ", 1000), Say(b"DO", 900), Say(b"WN\n", 200)]
    played = Game(agent(drip), agent(rows=FULL_BLUE))

    assert [Verdict.TURN_TIME, None] == played.faults
    assert "./red RED ILLEGAL 1 148 148" == played.result


def test_rows_that_come_together_are_charged_once() -> None:
    together = agent("SURRENDER", setup=[Say("".join(f"{row}\n" for row in FULL_RED).encode(), 1500)])
    played = Game(together, agent(rows=FULL_BLUE))

    assert [1_500_000_000, 0, 0, 0] == [ply.charged_ns for ply in played.referee.plies[:4]]


def test_a_whole_game_that_is_sent_at_once_is_played_line_by_line() -> None:
    """RED sends all it will ever say with its first row; the boards are sent to it all the same."""
    moves = ["0 3 DOWN", "0 4 UP", "0 3 DOWN", "SURRENDER"]
    burst = "".join(f"{line}\n" for line in (*FULL_RED, *moves)).encode()
    played = Game(agent(setup=[Say(burst)]), agent("9 6 UP", "9 5 DOWN", "9 6 UP", rows=FULL_BLUE))

    assert "./red RED SURRENDER 4 148 148" == played.result
    assert [0] * 7 == [ply.charged_ns for ply in played.referee.plies if ply.seat == 0][1:]


def test_two_bad_set_ups_are_two_faults() -> None:
    played = Game(agent(rows=("x",) * 4), agent(rows=(*FULL_BLUE[:3], "")))

    assert isinstance(played.end, BothAtFault)
    assert [Verdict.ILLEGAL, Verdict.ILLEGAL] == played.faults
    assert played.winner is None
    assert "QUIT neither BOTH BAD_SETUP 0 0 128" == played.heard(0)[-1] == played.heard(1)[-1]
    assert [] == played.world.killed


@pytest.mark.parametrize(
    ("red_setup", "blue_setup", "faults", "result"),
    [
        ([], None, [Verdict.TURN_TIME, None], "./red RED BAD_SETUP 0 0 148"),
        (exits(3), None, [Verdict.CRASH, None], "./red RED BAD_SETUP 0 0 148"),
        (None, dies(11), [None, Verdict.CRASH], "./blue BLUE BAD_SETUP 0 148 0"),
        ([], exits(0), [Verdict.TURN_TIME, Verdict.CRASH], "neither BOTH BAD_SETUP 0 0 0"),
    ],
)
def test_seat_failing_in_setup_does_not_stop_the_other_setup(
    red_setup: Sequence[Act] | None,
    blue_setup: Sequence[Act] | None,
    faults: list[Verdict | None],
    result: str,
) -> None:
    played = Game(agent(setup=red_setup), agent(rows=FULL_BLUE, setup=blue_setup))

    assert faults == played.faults
    assert result == played.result
    assert "BLUE ./red 10 10" in played.heard(1)


def test_seat_that_failed_in_setup_stays_frozen_while_the_other_is_asked() -> None:
    played = Game(agent(setup=[]), agent(rows=FULL_BLUE, ms=500))

    kinds = [entry.kind for entry in played.world.entries if entry.seat == 0]
    first_thaw = kinds.index(EntryKind.THAWED)
    assert EntryKind.FROZEN in kinds[first_thaw : kinds.index(EntryKind.THAWED, first_thaw + 1)]


def test_seat_that_dies_in_the_opponents_turn_is_judged_at_its_next_request() -> None:
    """BLUE's answer stands, and RED's death is RED's."""
    leaver = agent([Say(b"0 3 DOWN\n", 1), *exits(0)])
    played = Game(leaver, agent("9 6 UP", rows=FULL_BLUE))

    assert [Verdict.CRASH, None] == played.faults
    assert "./red RED ILLEGAL 2 148 148" == played.result
    assert "exited with code 0" in played.end.reason
    assert ["0 3 DOWN OK", "9 6 UP OK", "QUIT ./red RED ILLEGAL 2 148 148"] == played.heard(1)[-3:]


def test_a_death_of_the_side_that_waits_does_not_undo_a_surrender() -> None:
    leaver = agent([Say(b"0 3 DOWN\n", 1), *exits(0)])
    played = Game(leaver, agent("SURRENDER", rows=FULL_BLUE))

    assert [None, Verdict.RESIGNED] == played.faults


def test_a_signal_in_ones_own_turn() -> None:
    played = Game(agent(dies(11)), agent(rows=FULL_BLUE))

    assert [Verdict.CRASH, None] == played.faults
    assert "SIGSEGV" in played.end.reason


def test_exceeding_memory_is_a_separate_fault() -> None:
    world = World(agent(dies(9)), agent(rows=FULL_BLUE), readings=Readings(oom_kills=1))

    assert Verdict.MEMORY is ScriptedGame(world, spec()).verdict


def test_illegal_move_and_invalid_reply() -> None:
    assert [None, Verdict.ILLEGAL] == Game(agent("0 3 DOWN"), agent("0 5 UP")).faults
    assert [Verdict.UNREADABLE, None] == Game(agent("hello"), agent(rows=FULL_BLUE)).faults


def test_agent_ignoring_quit_is_killed_within_two_seconds() -> None:
    def deaf(line: str) -> Sequence[Act]:
        return [] if line.startswith("QUIT") else hears(line)

    hears = agent("0 3 DOWN")
    played = Game(deaf, agent("SURRENDER", rows=FULL_BLUE))

    assert [0] == played.world.killed
    moments = [entry.ns for entry in played.world.entries if entry.seat == 0]
    assert 2_000_000_000 == moments[-1] - moments[-3]


def test_equal_ranks_are_decided_by_the_game_seed() -> None:
    """The same spec, the same luck; `Game` plays each a second time from its transcript."""

    def luck(seed: int) -> str:
        fighters = agent("0 3 DOWN 3", "SURRENDER"), agent("1 6 UP", rows=FULL_BLUE)
        game_spec = spec("stratego-seed").model_copy(update={"seed": seed})
        return Game(*fighters, game_spec).heard(0)[2]

    lucks = [luck(seed) for seed in range(12)]
    assert lucks == [luck(seed) for seed in range(12)]
    assert {"0 3 DOWN 3 KILLS 9 9", "0 3 DOWN 3 DIES 9 9"} == set(lucks)


@pytest.mark.parametrize("policy", ["stratego-seed", "stratego-2011", "stratego-2012"])
def test_game_log_is_made_from_its_record(policy: str) -> None:
    """Answers, tosses, a fault: the record has all that the log needs, and the log replays."""
    fighters = [
        (agent("0 3 DOWN 3", "SURRENDER"), agent("1 6 UP", rows=FULL_BLUE)),
        (agent("0 3 DOWN 3", []), agent("1 6 UP", rows=FULL_BLUE)),
        (agent("0 3 DOWN 3", exits(1)), agent("1 6 UP", rows=FULL_BLUE)),
        (agent("0 5 DOWN"), agent(rows=FULL_BLUE)),
        (agent("0 3 DOWN 2 \x01"), agent("what", rows=FULL_BLUE)),
        (agent(setup=[Say(b"FB8sB479B8\n")]), agent(rows=FULL_BLUE)),
        (agent(setup=[]), agent(rows=("x",) * 4)),
        (agent("0 3 DOWN " + " " * 2000), agent(rows=FULL_BLUE)),
    ]
    for red_agent, blue_agent in fighters:
        played = Game(red_agent, blue_agent, spec(policy))
        data = log_of_record(RecordFile.model_validate_json(played.file().to_json()))
        assert write_log(played.rules, NAMES) == data
        if None not in (log := read_log(data)).setups:
            assert played.result == replay_stratego_log(log, played.rules.options).result(NAMES)


def test_a_void_game_has_a_log_without_an_end() -> None:
    played = Game(agent("0 3 DOWN"), agent("SURRENDER", rows=FULL_BLUE))
    void = voided(played.file())

    assert [] == verify(void).problems
    log = log_of_record(void)
    assert b"RED SETUP" in log
    assert b"SURRENDER" not in log


@pytest.mark.parametrize(
    ("policy", "turns"), [("stratego-seed", 5000), ("stratego-2011", 5000), ("stratego-2012", 1000)]
)
def test_policy_sets_two_seconds_a_line_and_the_points_of_each_outcome(policy: str, turns: int) -> None:
    loaded = load_policy(policy)

    clock = loaded.clock
    assert (2000, 0, 0, 2000) == (clock.turn_ms, clock.tolerance_ms, clock.match_ms, clock.close_ms)
    game = Stratego.from_options(loaded.game.options)
    assert (policy, turns) == (loaded.game.options["rules"], game.options.turn_limit)
    printed = {"VICTORY", "SURRENDER", "DRAW", "DRAW_DEFAULT", "ILLEGAL", "BOTH_ILLEGAL"}
    own = {
        "stratego-seed": {"DEFEAT", "DEFAULT"},
        "stratego-2011": {"INTERNAL_ERROR"},
        "stratego-2012": {"BAD_SETUP"},
    }
    assert printed | own[policy] <= loaded.points.keys()
    # Whoever is named, the same game scores the same.
    for word, mirrored in (("VICTORY", "DEFEAT"), ("ILLEGAL", "DEFAULT")):
        if mirrored in loaded.points:
            assert loaded.points[word] == loaded.points[mirrored][::-1]


def test_variants_of_a_policy_are_also_games() -> None:
    for name in ("stratego-seed:tolerant", "stratego-2011:tolerant", "stratego-2012:tolerant"):
        assert Stratego.from_options(load_policy(name).game.options).options.tolerate_illegal
    full, tenth = (
        load_policy("stratego-2012").points,
        load_policy("stratego-2012:preliminary").points,
    )
    for word, (named, other) in full.items():
        assert [named / 10, other / 10] == pytest.approx(list(tenth[word]))


def test_a_draw_has_no_winner() -> None:
    short = spec(game={"options": {"rules": "stratego-2012", "turn_limit": 2}})
    played = Game(agent("0 3 DOWN"), agent("9 6 UP", rows=FULL_BLUE), short)

    assert isinstance(played.end, RuleResult)
    assert (Verdict.DRAW, None) == (played.verdict, played.winner)
    assert "QUIT ./blue BLUE DRAW_DEFAULT 2 148 148" == played.heard(0)[-1]


@pytest.mark.parametrize("ms", [0, 1, 30])
def test_rows_that_come_after_their_deadline_are_set_aside(ms: float) -> None:
    """The other side is still asked for its rows while they are read: out of a pipe, or of a box that is not frozen."""
    late = [Say(b"FB8sB479B8\n", 2000.5), *(Say(f"{row}\n".encode(), ms) for row in FULL_RED)]
    world = World(agent(setup=late), agent(rows=FULL_BLUE, ms=10), ponders=True)
    game_spec = spec()
    played = ScriptedGame(world, game_spec)

    assert [Verdict.TURN_TIME, None] == played.faults
    assert not [ply for ply in played.referee.plies if ply.seat == 0]
    notes = [note.text for note in played.referee.sides[0].notes]
    assert "late: 11 bytes that came after its fault" in notes
