"""Clocks with a time control: charges, flags, what agents are told, records, and policies."""

import random
import re
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.formats.fault_report import case_lines, cases
from judge.games.types import Verdict
from judge.protocols.time_control import UNLIMITED_MS, ByoYomi, Period, TimeControl
from judge.protocols.types import AgentProtocol, Ask, Clock, Effect, Open, Stimulus, Wait
from judge.record.policy import ClockPolicy, Policy, load_policy
from judge.record.spec import ClockRecord, GameSpec, RecordFile
from judge.referee.clock import MS, PAID, SeatClock
from judge.referee.requests import drive
from judge.referee.setup import build_referee
from judge.referee.verify import verify
from judge.testing import Act, Agent, Say, World
from tests.examples import examples
from tests.protocols.test_time_control import CONTROLS
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, play, spec


def _first_flag(control: TimeControl, used: Sequence[int]) -> int | None:
    """The index of the first answer that is not in time."""
    return next((at for at in range(len(used)) if _is_over(control, used[: at + 1])), None)


def _periods_begun(control: TimeControl, before: int) -> list[tuple[Period, int]]:
    """Each period that has begun after `before` answers, and its answers among them."""
    found = []
    for period in chain(control.periods, repeat(control.periods[-1])):
        count = min(before, period.answers or before)
        found.append((period, count))
        before -= count
        if not period.answers or count < period.answers:
            break
    return found


def _is_over(control: TimeControl, used: Sequence[int]) -> bool:
    if control.turn_ms is not None and used[-1] > control.turn_ms * MS:
        return True
    if not control.periods:
        return False
    begun = _periods_begun(control, len(used) - 1)
    added = sum(period.time_ms + period.increment_ms * count for period, count in begun) * MS
    delays = [period.delay_ms * MS for period, count in begun for _ in range(count)] + [begun[-1][0].delay_ms * MS]
    charged = [max(0, each - delay) for each, delay in zip(used, delays, strict=True)]
    byo_yomi = control.byo_yomi
    if byo_yomi is None or len(begun) < len(control.periods):
        return sum(charged) > added
    first = sum(period.answers for period in control.periods[:-1])
    main = added - sum(charged[:first])
    if byo_yomi.answers:
        return _is_over_canadian(main, byo_yomi.time_ms * MS, byo_yomi.answers, used[first:])
    return _is_over_japanese(main, byo_yomi.time_ms * MS, byo_yomi.periods, used[first:])


def _beyond_main(main: int, used: Sequence[int]) -> list[int]:
    """For each answer that used byo-yomi, how much of it."""
    total, found = 0, []
    for each in used:
        total += each
        if total > main:
            found.append(min(each, total - main))
    return found


def _is_over_japanese(main: int, period: int, periods: int, used: Sequence[int]) -> bool:
    begun = [-(-each // period) for each in _beyond_main(main, used)]
    return bool(begun) and sum(count - 1 for count in begun[:-1]) + begun[-1] > periods


def _is_over_canadian(main: int, period: int, answers: int, used: Sequence[int]) -> bool:
    beyond = _beyond_main(main, used)
    last = len(beyond) - 1 - (len(beyond) - 1) % answers if beyond else 0
    return sum(beyond[last:]) > period


def _clock_flag(clock: SeatClock, used: Sequence[int]) -> int | None:
    for at, ns in enumerate(used):
        deadline = clock.deadline(Wait.TURN, 0)
        if ns > deadline.ns:
            return at
        clock.charge(Wait.TURN, ns)
        clock.answered()
    return None


def _random_control(chance: random.Random) -> TimeControl:
    def time() -> int:
        return chance.choice((1, 2, 3, 10, 50, 100))

    def count() -> int:
        return chance.choice((1, 2, 3, 5))

    def period(*, is_counted: bool) -> Period:
        bonus = chance.choice(((0, 0), (0, 0), (time(), 0), (0, time())))
        return Period(time(), count() if is_counted else 0, *bonus)

    counted = [period(is_counted=True) for _ in range(chance.choice((0, 0, 0, 1, 2)))]
    turn_ms = chance.choice((None, None, None, 40))
    kinds: Sequence[Callable[[], TimeControl]] = (
        lambda: TimeControl((*counted, period(is_counted=chance.random() < 0.5)), None, turn_ms),
        lambda: TimeControl((*counted, period(is_counted=False)), None, turn_ms),
        lambda: TimeControl((*counted, Period(time() - 1)), ByoYomi(time(), periods=count()), turn_ms),
        lambda: TimeControl((*counted, Period(time() - 1)), ByoYomi(time(), answers=count()), turn_ms),
        lambda: TimeControl(turn_ms=time()),
    )
    return chance.choice(kinds)()


@pytest.mark.slow
def test_two_formulations_find_the_same_flag_in_10_000_games() -> None:
    chance = random.Random(42)
    flags = 0
    for _ in range(10_000):
        control = _random_control(chance)
        clock = SeatClock(ClockPolicy(control=str(control), tolerance_ms=0))
        longest = chance.choice((3, 20, 60))
        # Whole milliseconds hit the boundaries exactly.
        used = [
            chance.randrange(1, longest + 1) * MS + chance.choice((0, 0, 0, 1, -1, chance.randrange(MS)))
            for _ in range(chance.randrange(1, 40))
        ]
        found = _clock_flag(clock, used)
        assert _first_flag(control, used) == found, (control, used)
        flags += found is not None
    assert 2_000 < flags < 9_500


CHARGES = st.lists(
    st.tuples(
        st.sampled_from(list(Wait)),
        st.integers(0, 10**9) | st.integers(0, 10**6).map(lambda ms: ms * MS),
        st.booleans(),
    ),
    max_size=60,
)


@given(CONTROLS, CHARGES)
@settings(max_examples=examples(500))
def test_time_is_conserved_for_any_charges(control: TimeControl, charges: list[tuple[Wait, int, bool]]) -> None:
    """Time at the beginning + added - charged = left."""
    clock = SeatClock(ClockPolicy(control=str(control)))
    charged = 0
    for wait, ns, answers in charges:
        if wait in PAID and not (wait is Wait.START and not clock.answers):
            charged += ns
        clock.charge(wait, ns)
        if answers:
            clock.answered()
        assert charged == clock.charged_ns
        if control.total_ms is not None:
            assert control.total_ms * MS + clock.added_ns - charged == clock.left_ns()
        else:
            assert clock.left_ns() is None


@given(CONTROLS, st.integers(0, 5000), st.lists(st.floats(0, 1), max_size=40))
@settings(max_examples=examples(500))
def test_no_agent_uses_more_than_the_longest_time(control: TimeControl, tolerance_ms: int, shares: list[float]) -> None:
    """Also if it overruns each turn by a share of what it may, the tolerance included."""
    clock = SeatClock(ClockPolicy(control=str(control), tolerance_ms=tolerance_ms))
    for count, share in enumerate(shares, 1):
        clock.charge(Wait.TURN, int(clock.deadline(Wait.TURN, 0).ns * share))
        clock.answered()
        longest_ms = control.longest_ms(count, tolerance_ms)
        assert longest_ms is not None
        assert clock.charged_ns <= longest_ms * MS


@given(CONTROLS, st.lists(st.integers(0, 10**12), max_size=40))
@settings(max_examples=examples(300))
def test_the_clock_that_is_shown_is_the_time_until_the_flag(control: TimeControl, used: list[int]) -> None:
    clock = SeatClock(ClockPolicy(control=str(control), tolerance_ms=0))
    for ns in used:
        shown, left = clock.shown(), clock.left_ns()
        if left is None:
            assert Clock(control.turn_ms or 0, UNLIMITED_MS) == shown
        else:
            assert left // MS == shown.time_left_ms
            assert shown.main_ms is not None
            assert (shown.time_left_ms - 60_000) == clock.shown(Wait.TURN, 60_000 * MS).time_left_ms
            overtime = shown.period_ms * (shown.periods_left or 1)
            if shown.main_ms >= 0 and not (shown.main_ms == 0 and left < 0):
                assert abs(shown.main_ms + shown.delay_ms + overtime - shown.time_left_ms) <= 1 or shown.main_ms == 0
        clock.charge(Wait.TURN, ns)
        clock.answered()


@pytest.mark.parametrize("match_ms", [0, 5000])
@pytest.mark.parametrize("turn_ms", [0, 300])
def test_limits_of_a_turn_and_a_game_are_as_before(turn_ms: int, match_ms: int) -> None:
    """Start-up is charged; answers add nothing."""
    clock = SeatClock(ClockPolicy(turn_ms=turn_ms, match_ms=match_ms, tolerance_ms=50, start_ms=200))
    turn = turn_ms or 1000

    assert (200 * MS, Verdict.START_TIME, 200) == clock.deadline(Wait.START, 0)
    clock.charge(Wait.START, 150 * MS)
    clock.answered()
    assert (7 + (turn + 50) * MS, Verdict.TURN_TIME, turn + 50) == clock.deadline(Wait.TURN, 7)
    clock.charge(Wait.TURN, 4800 * MS)
    if match_ms:
        assert (100 * MS, Verdict.MATCH_TIME, 100) == clock.deadline(Wait.TURN, 0)
        assert (turn_ms, 50, 50) == (clock.shown().turn_ms, clock.shown().time_left_ms, clock.shown().main_ms)
    else:
        assert Clock(turn_ms, UNLIMITED_MS) == clock.shown()
    assert 4950 * MS == clock.charged_ns


def _game(control: str, white_ms: float, black_ms: float = 1.0) -> Game:
    chosen = spec(clock={"control": control, "tolerance_ms": 0})
    return play(brain(*BLACK_ROW, ms=black_ms), brain(*WHITE_ROW, ms=white_ms), chosen)


@pytest.mark.parametrize(
    ("control", "answers"),
    [
        ("1.6", None),
        ("1.599", 3),
        ("0.4d0.3", None),
        ("0.399d0.3", 3),
        ("2/0.6+0.2:0.4d0.2", None),
        ("2/0.799:9", 1),
        ("0.8|2x0.2", 3),
        ("0.8|2/0.799", 3),
        ("9@0.399", 0),
        ("9,1.599", 3),
    ],
)
def test_an_answer_is_in_time_if_it_takes_exactly_what_is_left(control: str, answers: int | None) -> None:
    """White answers four times in 400 ms each; `answers` is how many of them are in time, None for all."""
    played = _game(control, 400)

    if answers is None:
        played.assert_won()
    else:
        played.assert_lost(1, played.verdict)
        assert answers == len(played.charged_ms(1))


def test_a_seat_may_have_less_time_than_the_other() -> None:
    played = _game("9,0.5", 400, 400)

    played.assert_lost(1, Verdict.MATCH_TIME)
    heard = [played.heard(seat, "INFO timeout_match") for seat in (0, 1)]
    assert [["INFO timeout_match 9000"], ["INFO timeout_match 500"]] == heard


def test_start_up_is_free_before_the_first_answer() -> None:
    chosen = spec(clock={"control": "0.1", "tolerance_ms": 0})
    played = play(brain(*BLACK_ROW, START=[Say(b"OK\r\n", 5000)]), brain(*WHITE_ROW), chosen)

    played.assert_won()
    assert "INFO time_left 100" in played.heard(0)


REPLAYED = "1 0.5+0.2 0.5d0.2 2/0.7 0.5|2x0.2 0.5|2/0.4 2/0.7:0.3+0.1 2/0.7|1x0.2 1@0.3 0.5,1+0.1"


@given(
    st.sampled_from(REPLAYED.split()),
    st.lists(st.integers(1, 500), min_size=10, max_size=10),
    st.integers(0, 200),
)
@settings(max_examples=examples(200), deadline=None)
def test_a_replay_gives_the_same_flags(control: str, times: list[int], tolerance_ms: int) -> None:
    chosen = spec(clock={"control": control, "tolerance_ms": tolerance_ms})
    black, white = _timed(BLACK_ROW, times[:5]), _timed(WHITE_ROW, times[5:])
    file = play(black, white, chosen).file()

    assert [] == verify(file).problems
    again = RecordFile.model_validate_json(file.to_json())
    assert file == again
    assert [] == verify(again).problems


def _timed(row: Sequence[str], times: Sequence[int]) -> Agent:
    agents = [brain(move, ms=ms) for move, ms in zip(row, times, strict=True)]
    plain = brain()

    def hear(line: str) -> Sequence[Act]:
        word = line.split()[0] if line else ""
        return agents.pop(0)(line) if word in ("BEGIN", "TURN") and agents else plain(line)

    return hear


def test_the_record_has_the_clock() -> None:
    seat = _game("1+0.1", 400).file().record.seats[1]

    assert ClockRecord(control="1+0.1", answers=3, added_ms=300.0, left_ms=0.0) == seat.clock


def test_the_evidence_explains_the_control() -> None:
    file = _game("0|2x0.3", 400).file()
    (case,) = cases(file)
    text = "\n".join(case_lines(case, file.record, "game.json"))

    assert "game      700.000 ms charged of 600 ms + 100.000 ms added by 1 answers" in text
    assert "control   0|2x0.3: 0 s a game, then 2 x 0.3 s byo-yomi" in text
    assert "left      0.000 ms until the flag falls" in text
    assert "period    1 left" in text
    assert 'clock.control = "0|2x0.3"' in text


class _Listener:
    def __init__(self, inside: AgentProtocol, heard: list[Stimulus]) -> None:
        self.speaks, self._inside, self._heard = inside.speaks, inside, heard

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        self._heard.append(stimulus)
        return self._inside.feed(stimulus)


def test_a_protocol_gets_its_control_and_both_clocks() -> None:
    chosen = spec(clock={"control": "2/10+1,60|3x30"})
    world = World(brain(*BLACK_ROW, ms=400), brain(*WHITE_ROW, ms=100))
    referee = build_referee(chosen)
    heard: list[Stimulus] = []
    referee.sides[0].protocol = _Listener(referee.sides[0].protocol, heard)
    drive(referee.requests(), world)

    limits = next(each.limits for each in heard if isinstance(each, Open))
    assert TimeControl((Period(10_000, 2, 1000),)) == limits.control
    assert TimeControl((Period(60_000),), ByoYomi(30_000, 3)) == referee.sides[1].opening.limits.control
    asks = [each for each in heard if isinstance(each, Ask)]
    second, third = asks[1], asks[2]
    assert Clock(UNLIMITED_MS, 10_600, 10_600, increment_ms=1000, moves_to_go=1) == second.clock
    assert Clock(UNLIMITED_MS, 149_900, 59_900, periods_left=3, period_ms=30_000) == second.opponent
    assert Clock(UNLIMITED_MS, 21_200, 21_200, increment_ms=1000, moves_to_go=2) == third.clock


@pytest.mark.parametrize(
    ("control", "used_ms", "clock"),
    [
        ("60", 10_000, Clock(UNLIMITED_MS, 50_000, 50_000)),
        ("60d2", 1500, Clock(UNLIMITED_MS, 62_000, 60_000, delay_ms=2000)),
        ("60@5", 1500, Clock(5000, 58_500, 58_500)),
        ("60|3x30", 61_000, Clock(UNLIMITED_MS, 90_000, 0, periods_left=3, period_ms=30_000)),
        ("60|3x30", 91_000, Clock(UNLIMITED_MS, 60_000, 0, periods_left=2, period_ms=30_000)),
        ("60|3x30", 150_000, Clock(UNLIMITED_MS, 30_000, 0, periods_left=1, period_ms=30_000)),
        ("0|3/30", 0, Clock(UNLIMITED_MS, 30_000, 0, moves_to_go=2, period_ms=30_000)),
        ("60|5/30", 59_000, Clock(UNLIMITED_MS, 31_000, 1000, period_ms=30_000)),
        ("60|5/30", 70_000, Clock(UNLIMITED_MS, 20_000, 0, moves_to_go=4, period_ms=20_000)),
        ("1/60+2:20d1", 10_000, Clock(UNLIMITED_MS, 73_000, 72_000, delay_ms=1000)),
        ("1/60:3/20", 10_000, Clock(UNLIMITED_MS, 70_000, 70_000, moves_to_go=3)),
        ("2/60|3x20", 10_000, Clock(UNLIMITED_MS, 50_000, 50_000, moves_to_go=1)),
        ("1/60|3x20", 10_000, Clock(UNLIMITED_MS, 110_000, 50_000, periods_left=3, period_ms=20_000)),
        ("@5", 1500, Clock(5000, UNLIMITED_MS)),
    ],
)
def test_the_clock_after_one_answer(control: str, used_ms: int, clock: Clock) -> None:
    seat = SeatClock(ClockPolicy(control=control))
    seat.charge(Wait.TURN, used_ms * MS)
    seat.answered()

    assert clock == seat.shown()


@pytest.mark.parametrize("control", ["0|1x30", "0|1/30"])
def test_an_overrun_within_the_tolerance_is_owed(control: str) -> None:
    """In byo-yomi it shortens the next period."""
    clock = SeatClock(ClockPolicy(control=control, tolerance_ms=1000))
    clock.charge(Wait.TURN, 30_800 * MS)
    clock.answered()

    assert 29_200 * MS == clock.left_ns()
    clock.charge(Wait.TURN, 1000 * MS)
    clock.answered()
    assert 30_000 * MS == clock.left_ns()


def test_the_clock_runs_while_an_answer_is_awaited_and_delay_counts_last() -> None:
    clock = SeatClock(ClockPolicy(control="10|3/30"))

    assert Clock(UNLIMITED_MS, 28_000, 0, moves_to_go=3, period_ms=28_000) == clock.shown(Wait.TURN, 12_000 * MS)
    assert clock.shown() == clock.shown(Wait.PERSON, 12_000 * MS)
    delayed = SeatClock(ClockPolicy(control="10d1")).shown(Wait.TURN, 3000 * MS)
    assert (8000, 8000) == (delayed.main_ms, delayed.time_left_ms)


@pytest.mark.parametrize(
    ("control", "used_ms", "words"),
    [
        ("600|3x30", 599_999, "600|3x30"),
        ("600|3x30", 601_000, "600|3x30, period 1 of 3"),
        ("600|3x30", 631_000, "600|3x30, period 2 of 3"),
        ("600|5/30", 601_000, "600|5/30, 4 answers to go"),
        ("40/600:20", 1000, "40/600:20, 39 answers to go"),
        ("20@5", 1000, "20@5"),
    ],
)
def test_people_read_where_in_its_control_a_clock_is(control: str, used_ms: int, words: str) -> None:
    clock = SeatClock(ClockPolicy(control=control))
    clock.charge(Wait.TURN, used_ms * MS)
    clock.answered()

    assert words == clock.words()


def test_waits_for_what_is_no_answer_are_bounded_by_the_turn_together() -> None:
    clock = SeatClock(ClockPolicy(control="@5", tolerance_ms=200))
    clock.charge(Wait.SYNC, 3000 * MS)

    assert [2200, 2200] == [clock.deadline(wait, 0).allowed_ms for wait in (Wait.SYNC, Wait.TURN)]


@pytest.mark.parametrize("control", [None, "60"])
@pytest.mark.parametrize("wait", [Wait.SYNC, Wait.TURN, Wait.ROW, Wait.START])
def test_each_wait_after_the_first_answer_has_the_tolerance_of_the_game_time(wait: Wait, control: str | None) -> None:
    policy = ClockPolicy(control=control) if control else ClockPolicy(turn_ms=30_000, match_ms=60_000)
    clock = SeatClock(policy.model_copy(update={"tolerance_ms": 200}))
    clock.charge(Wait.TURN, 60_050 * MS)
    clock.answered()

    assert (150 * MS, Verdict.MATCH_TIME, 150) == clock.deadline(wait, 0)


def test_start_up_before_the_first_answer_has_no_tolerance() -> None:
    clock = SeatClock(ClockPolicy(match_ms=2000, start_ms=5000, tolerance_ms=200))

    assert (2000 * MS, Verdict.MATCH_TIME, 2000) == clock.deadline(Wait.START, 0)


def test_tolerance_of_the_game_time_extends_no_smaller_limit() -> None:
    """The ready check before a request, 10 s."""
    clock = SeatClock(ClockPolicy(turn_ms=30_000, match_ms=9900, tolerance_ms=200))

    assert (10_000 * MS, Verdict.TURN_TIME, 10_000) == clock.deadline(Wait.SYNC, 0)


@pytest.mark.parametrize(
    ("control", "missed"),
    [("5@5", Verdict.TURN_TIME), ("5@4", Verdict.TURN_TIME), ("5@6", Verdict.MATCH_TIME), ("5", Verdict.MATCH_TIME)],
)
def test_the_smaller_limit_decides_the_verdict(control: str, missed: Verdict) -> None:
    assert missed is SeatClock(ClockPolicy(control=control)).deadline(Wait.TURN, 0).missed


def test_a_policy_without_a_control_has_the_id_that_it_had() -> None:
    """Keys without a meaning for it are absent from the JSON of specs and records."""
    assert "b4d04d0ec2edef3fd844" == spec().id
    assert "control" not in spec().model_dump_json()
    played = play(brain(*BLACK_ROW), brain(*WHITE_ROW))
    assert not [key for key in (b"ponder", b"seat_cores") if key in played.file().to_json()]
    assert all('"clock"' not in seat.model_dump_json() for seat in played.file().record.seats)


def test_a_spec_with_a_control_survives_json() -> None:
    chosen = spec(clock={"control": "60+0.6"})
    again = GameSpec.model_validate_json(chosen.model_dump_json())

    assert (chosen, chosen.id) == (again, again.id)
    short = GameSpec.model_validate_json(chosen.model_dump_json(exclude_unset=True))
    assert (chosen.id, chosen.id_as_read) == (short.id, short.id_as_read)


@given(CONTROLS, st.integers(1, 10**6))
@settings(max_examples=examples(100))
def test_changed_clocks_survive_json(control: TimeControl, ms: int) -> None:
    clock = ClockPolicy(control=f"{control},60+0.6")
    shorter = clock.with_controls(lambda each: each.with_game(ms))
    per_answer = clock.with_controls(TimeControl.per_answer)
    for changed in (clock.with_turn(ms, 0), shorter, per_answer):
        assert changed == ClockPolicy.model_validate_json(changed.model_dump_json())
    assert [ms, ms] == [each.turn_ms for each in clock.with_turn(ms, 0).controls]
    assert [None, None] == [each.main_ms for each in per_answer.controls]


GAME_LIMITS = TimeControl.of_game(120_000, 5000, charges_start=True)
NO_TURN_TIME = TimeControl(turn_ms=0, charges_start=True)
INCREMENT = TimeControl((Period(60_000, 0, 600),))


@pytest.mark.parametrize(
    ("clock", "control", "limits", "words"),
    [
        (ClockPolicy(turn_ms=5000, match_ms=120_000), GAME_LIMITS, (5000, 5000), "5000 ms a turn, 120000 ms a game"),
        (ClockPolicy(turn_ms=0, match_ms=0), NO_TURN_TIME, (0, 1000), "as fast as possible, no limit of a game"),
        (
            *(ClockPolicy(control="60+0.6"), INCREMENT, (UNLIMITED_MS, None)),
            "60+0.6 (60 s a game, 0.6 s more after each answer)",
        ),
    ],
)
def test_the_keys_of_a_clock_become_a_time_control(
    clock: ClockPolicy, control: TimeControl, limits: tuple[int, int | None], words: str
) -> None:
    assert (control, control) == clock.controls
    assert limits == (control.announced_turn_ms, control.turn_limit_ms)
    assert words == clock.words


def test_changed_limits_stay_in_their_keys() -> None:
    clock = ClockPolicy(turn_ms=5000, match_ms=120_000)

    assert clock == clock.with_controls(TimeControl.per_answer)
    assert ClockPolicy(turn_ms=100, match_ms=120_000, tolerance_ms=7) == clock.with_turn(100, 7)
    assert ClockPolicy(turn_ms=5000, match_ms=900) == clock.with_controls(lambda each: each.with_game(900))


@pytest.mark.parametrize("line", ['clock = "60+0.6"', '[clock]\ncontrol = "60+0.6"\ntolerance_ms = 5'])
def test_a_policy_file_has_a_control(tmp_path: Path, line: str) -> None:
    policy = _policy(tmp_path, line)

    assert "60+0.6" == policy.clock.control
    assert (60_000, UNLIMITED_MS) == (policy.clock.match_ms, policy.clock.turn_ms)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('clock = "60s"', "policy.toml, line 2: clock.control: '60s': the time of the game is '60s'; write seconds"),
        ('[clock]\ncontrol = "40/0"', "policy.toml, line 3: clock.control: '40/0': the time after \"/\" is 0"),
        ("[clock]\ncontrol = 60", "policy.toml, line 3: clock.control: Input should be a valid string"),
        ('[clock]\ncontrol = "60"\nturn_ms = 5', "line 4: clock.turn_ms: clock.control '60' sets the limits; append @"),
        ('[clock]\nmatch_ms = 5\ncontrol = "60"', "line 3: clock.match_ms: clock.control '60' sets the limits"),
    ],
)
def test_a_wrong_control_is_refused_with_line_and_field(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        _policy(tmp_path, line)


@pytest.mark.parametrize("value", ["1" + "0" * 30, "0x" + "f" * 3000, "2147483648"])
@pytest.mark.parametrize("key", [name for name in ClockPolicy.model_fields if name.endswith("_ms")])
def test_a_time_that_no_clock_can_have_is_refused_with_line_and_field(tmp_path: Path, key: str, value: str) -> None:
    field = f"clock.{key}: Input should be less than or equal to 2"
    with pytest.raises(InputError, match=f"policy.toml, line 3.*{field}"):
        _policy(tmp_path, f"[clock]\n{key} = {value}")
    with pytest.raises(InputError, match=f"--set 'clock.{key}={value[:9]}.*{field}"):
        _policy(tmp_path, "", [f"clock.{key}={value}"])


@pytest.mark.parametrize("control", ["2000000+2000000", "1/2000000"])
def test_a_bank_above_every_limit_is_not_sent_as_unlimited(control: str) -> None:
    clock = SeatClock(ClockPolicy(control=control))
    for _ in range(3):
        clock.answered()
    assert clock.left_ns() == 8_000_000_000 * MS
    assert (UNLIMITED_MS - 1, UNLIMITED_MS - 1) == (clock.shown().time_left_ms, clock.shown().main_ms)


def _policy(folder: Path, line: str, overrides: Sequence[str] = ()) -> Policy:
    path = folder / "policy.toml"
    path.write_text(f'name = "x"\n{line}\n[game]\nname = "gomoku"\n')
    return load_policy(str(path), overrides)


def test_the_command_line_replaces_the_limits() -> None:
    for policy in (
        load_policy("gomocup-freestyle", clock="40/300"),
        load_policy("gomocup-freestyle:fast", ["clock.control=40/300"]),
        load_policy("gomocup-freestyle", ["clock=40/300"]),
        load_policy("gomocup-freestyle", ["clock.turn_ms=5"], clock="40/300"),
    ):
        assert (TimeControl((Period(300_000, 40),)),) * 2 == policy.clock.controls


@pytest.mark.parametrize(
    ("overrides", "clock", "words"),
    [
        ([], "60+", "--clock '60+': clock.control: '60+': the time after \"+\" (increment) is missing"),
        (["clock=5x"], "", "--set 'clock=5x': clock.control: '5x': the time of the game is '5x'"),
        (["clock.control=60", "clock.turn_ms=5"], "", "'clock.turn_ms=5': clock.turn_ms: clock.control '60' sets"),
    ],
)
def test_a_wrong_control_on_the_command_line_is_named(overrides: list[str], clock: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        load_policy("gomocup-freestyle", overrides, clock=clock)


def test_variants_replace_the_kind_of_limits(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(
        'name = "x"\n[game]\nname = "gomoku"\n[clock]\nturn_ms = 5\ntolerance_ms = 7\n'
        '[variants.increment]\nclock = "60+0.6"\n[variants.slow.clock]\nturn_ms = 9\n'
    )

    increment, slow = (load_policy(f"{path}:{name}").clock for name in ("increment", "slow"))
    assert ("60+0.6", 7) == (increment.control, increment.tolerance_ms)
    assert (None, 9) == (slow.control, slow.turn_ms)
