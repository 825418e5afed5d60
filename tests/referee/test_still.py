"""Who does not stand still when its turn is over pays for it, and never its opponent: on scripted agents."""

from collections.abc import Sequence

import pytest

from judge.base.errors import HostError
from judge.formats.fault_report import cases
from judge.games.stratego.types import COLOURS
from judge.games.types import FAILURES, Verdict
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, RecordFile
from judge.record.transcript import Entry, EntryKind, unseal
from judge.referee.requests import RanOn, StoppedCpu, drive
from judge.referee.setup import build_referee
from judge.referee.verify import verify
from judge.sandbox.evidence import Evidence, ProcessReport
from judge.testing import MS, Act, Agent, Do, Say, World, exits, scripted_seats
from tests.games.stratego_positions import FULL_BLUE, FULL_RED
from tests.referee import test_stratego as stratego
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, marked_file, resealed, spec
from tests.referee.test_fuzz import Polite

CALL = RanOn(1000 * MS, 990 * MS)
"""A call that nothing interrupts and that lasts for as long as is waited for it."""


def world(ran_on: dict[int, list[RanOn]] | None = None, stopped: Sequence[int] = (), white_ms: float = 1.0) -> World:
    """Two honest players: which of them run on, and the CPU time that black uses while it is stopped, by reading."""
    made = World(brain(*BLACK_ROW), brain(*WHITE_ROW, ms=white_ms))
    made.ran_on = ran_on or {}
    made.stopped_cpu_ms = {0: list(stopped)}
    return made


def ran_on(*spans: RanOn, seat: int = 0, white_ms: float = 1.0) -> Game:
    return Game(world({seat: list(spans)}, white_ms=white_ms), spec())


def test_running_on_is_charged_to_the_awaited_seat_and_its_move_and_not_to_its_opponent() -> None:
    played = ran_on(RanOn(300 * MS, 290 * MS), RanOn(40 * MS, 80 * MS))

    played.assert_won()
    assert [336 * MS, 5 * MS] == [side.clock.charged_ns for side in played.referee.sides]
    # the first one was its start-up's: no move was played
    assert [41, 1] == played.charged_ms(0)[:2]


def test_seat_not_frozen_within_the_bound_loses_before_its_opponent_begins() -> None:
    played = ran_on(CALL, white_ms=10**9)

    played.assert_lost(0, Verdict.TURN_TIME)
    assert (1000, 990) == (played.evidence(0).ran_on_ms, played.evidence(0).ran_on_cpu_ms)
    assert EntryKind.STARTED not in {entry.kind for entry in played.world.entries if entry.seat == 1}
    (case,) = cases(played.file())
    assert (990, 20, ()) == (case.charged_ms, case.allowed_ms, case.rules)


def test_one_that_uses_no_processor_time_waits_for_the_host_and_plays_on() -> None:
    """It loses nothing by a core that is busy or a disk that is slow."""
    played = ran_on(*[RanOn(1000 * MS, 0)] * 2, seat=1)

    played.assert_won()
    assert 5 * MS == played.referee.sides[1].clock.charged_ns


def test_bound_decides_where_processor_time_is_unknown() -> None:
    ran_on(RanOn(1000 * MS, None), seat=1).assert_lost(1, Verdict.TURN_TIME)


@pytest.mark.parametrize("words", [{"turn_ms": 100}, {"match_ms": 200}, {"start_ms": 100}])
def test_late_seat_is_not_at_fault_for_time_that_the_other_box_used(words: dict[str, int]) -> None:
    second = brain(START=[]) if "start_ms" in words else brain()
    stolen = World(brain("7,7"), second, readings=Evidence(opponent_cpu_ns=80 * MS))
    played = Game(stolen, spec(clock={"tolerance_ms": 0, **words}))

    played.assert_lost(0, Verdict.TURN_TIME)
    assert 80 == played.evidence(0).ran_on_cpu_ms
    # A short stall excuses no agent.
    stolen = World(brain("7,7"), brain(), readings=Evidence(opponent_cpu_ns=20 * MS))
    Game(stolen, spec()).assert_lost(1, Verdict.TURN_TIME)


def test_cpu_time_of_a_stopped_seat_is_charged_to_its_last_answer() -> None:
    played = Game(world(stopped=[0, 0, 15, 3]), spec())

    played.assert_won()
    assert ([19, 1], [0]) == (played.charged_ms(0)[:2], played.charged_ms(1)[:1])
    # White's turn of 1 ms was taken by black.
    assert [(6 + 18) * MS, 4 * MS] == [side.clock.charged_ns for side in played.referee.sides]
    assert not verify(played.file()).problems


@pytest.mark.parametrize(("stopped", "is_late"), [([], True), ([0, 0, 11], False)])
def test_time_that_a_stopped_opponent_used_is_given_back_and_its_limits_are_later(
    stopped: list[int], is_late: bool
) -> None:
    played = Game(world(stopped=stopped, white_ms=110), spec(clock={"turn_ms": 100, "match_ms": 0, "tolerance_ms": 0}))

    assert ([] if is_late else [99]) == played.charged_ms(1)[:1]
    assert not verify(played.file()).problems


def test_opponent_that_used_several_cores_gives_back_no_more_than_was_charged() -> None:
    played = Game(world(stopped=[0, 0, 1000], white_ms=110), spec(clock={"turn_ms": 100, "tolerance_ms": 0}))

    played.assert_lost(0, Verdict.TURN_TIME, "used 1000 ms of processor time")
    assert [10] == played.charged_ms(1)


@pytest.mark.parametrize(("used_ms", "turn"), [(17, 2), (11, 2), (7, 3), (6, 6), (5, None)])
def test_a_little_cpu_time_in_every_turn_of_the_opponent_loses(used_ms: int, turn: int | None) -> None:
    """Never more than 20 ms, and in the mean of many turns never more than 5 ms."""
    moves = [f"{x},{y}" for y in (0, 2, 4) for x in range(0, 14, 2)]
    others = [f"{x},{y}" for y in (1, 3, 5) for x in range(0, 14, 2)]
    busy = World(brain(*moves), brain(*others, ms=50))
    # Readings of a turn: before its own, and in its opponent's.
    busy.stopped_cpu_ms = {0: [0] + [0, used_ms] * 20}
    played = Game(busy, spec())

    if turn is None:
        assert "did not stop" not in played.end.reason
        return
    played.assert_lost(0, Verdict.TURN_TIME, "did not stop when its turns were over")
    assert turn == len(played.charged_ms(1))
    evidence = played.evidence(0)
    assert (turn * used_ms, turn + 1) == (evidence.stopped_cpu_ms, evidence.stopped_turns)
    (case,) = cases(played.file())
    assert (turn * used_ms, 20) == (case.charged_ms, case.allowed_ms)


@pytest.mark.parametrize("reads", [1, 2, 3, 4])
def test_a_seat_that_used_much_cpu_time_while_stopped_loses_though_its_opponent_was_in_time(reads: int) -> None:
    """In its opponent's start-up, at its next request, in its opponent's turn, and at the request after that."""
    played = Game(world(stopped=[0] * (reads - 1) + [21]), spec())

    played.assert_lost(0, Verdict.TURN_TIME)
    assert 21 == played.evidence(0).ran_on_cpu_ms


@pytest.mark.parametrize(
    ("white", "stopped", "loser", "verdict"),
    [
        (brain("0,1"), 0, 1, Verdict.ILLEGAL),
        (brain("0,1"), 21, 0, Verdict.TURN_TIME),
        (brain(TURN=exits(3)), 50, 0, Verdict.TURN_TIME),
    ],
    ids=["little", "much", "much, and white exits"],
)
def test_cpu_time_in_the_last_turn_of_the_game_decides_it(
    white: Agent, stopped: int, loser: int, verdict: Verdict
) -> None:
    busy = World(brain("0,1"), white)
    busy.stopped_cpu_ms = {0: [0, 0, stopped]}

    Game(busy, spec()).assert_lost(loser, verdict)


@pytest.mark.parametrize("readings", [[0, 0, 0, 5], [0, 0, 5, 0]])
def test_cpu_time_at_a_missed_deadline_is_read_once(readings: list[int]) -> None:
    """What a second reading finds at that moment would have no place in the record."""
    late = World(brain("7,7"), brain())
    late.stopped_cpu_ms = {0: readings}

    Game(late, spec(clock={"turn_ms": 100})).assert_lost(1, Verdict.TURN_TIME)


class Counting(World):
    """A world whose judge measures only a few times."""

    measured = 0

    def measure(self, seat: int) -> Evidence:
        self.measured += 1
        assert self.measured < 10, "the judge measures again and again"
        return super().measure(seat)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("reading", range(12))
def test_seat_that_ran_on_is_blamed_once_for_an_opponent_that_exits(seat: int, reading: int) -> None:
    """In the set-up of Stratego a fault does not end the game."""
    agents = [stratego.agent(rows=FULL_RED), stratego.agent(rows=FULL_BLUE)]
    agents[1 - seat] = stratego.agent(setup=exits(3))
    busy = Counting(*agents)
    busy.stopped_cpu_ms = {seat: [*[0] * reading, 30]}

    played = Game(busy, stratego.spec("stratego-seed"))
    assert Verdict.VOID is not played.verdict
    assert not verify(played.file()).problems


class Disturbed(World):
    """In the first wait of a seat that lasts too long, the other one runs for 30 ms."""

    verdict_ms, read_ms = 0, 0
    """Time that a reading of evidence takes, and that the judge is busy before it reads `LATE_ROW`."""
    thawed_ns = 0

    def thaw(self, seat: int) -> int:
        self.thawed_ns = super().thaw(seat)
        return self.thawed_ns

    def start(self, seat: int) -> int:
        self.thawed_ns = super().start(seat)
        return self.thawed_ns

    def read_stopped_cpu(self, seat: int, asked: int) -> int:
        if asked != seat and self.now - self.thawed_ns >= 2000 * MS and not self.stopped_cpu_ms:
            self.stopped_cpu_ms = {seat: [30]}
        return super().read_stopped_cpu(seat, asked)

    def measure(self, seat: int) -> Evidence:
        self._pass(self.verdict_ms * MS)
        return super().measure(seat)

    def _happen(self, seat: int) -> Entry:
        if self.bodies[seat].acts[0] == (0, LATE_ROW):
            self._pass(self.read_ms * MS)
        return super()._happen(seat)


LATE_ROW = Say(b"967B669999\n", 1995)

PAUSED = Do(EntryKind.PAUSED, b"500000000", 2000)


def disturbed(seat: int, row: int, *late: Act, verdict_ms: int = 0, read_ms: int = 0) -> Game:
    """A game of Stratego in whose set-up a seat does `late` instead of one row."""
    rows = [FULL_RED, FULL_BLUE][seat]
    setup: list[Act] = [Say(f"{text}\n".encode()) for text in rows]
    setup[row : row + 1] = late or [Say(f"{rows[row]}\n".encode(), 2041)]
    agents = [stratego.agent("SURRENDER", rows=FULL_RED), stratego.agent(rows=FULL_BLUE)]
    agents[seat] = stratego.agent(setup=setup)
    world = Disturbed(*agents)
    world.verdict_ms, world.read_ms = verdict_ms, read_ms
    return Game(world, stratego.spec())


@pytest.mark.parametrize("verdict_ms", [0, 11, 30])
@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("seat", [0, 1])
def test_row_that_arrives_during_the_verdict_on_the_other_seat_is_its_answer(
    seat: int, row: int, verdict_ms: int
) -> None:
    """In the set-up of Stratego a fault does not end the game. The row arrives after the verdict, or before its end."""
    played = disturbed(seat, row, verdict_ms=verdict_ms)

    played.assert_lost(1 - seat, Verdict.TURN_TIME, "did not stop")
    assert 1 == len(played.heard(seat, COLOURS[seat]))
    assert 4 == sum(ply.seat == seat for ply in played.referee.plies[:8])


@pytest.mark.parametrize("late", [(LATE_ROW,), (PAUSED, Say(b"967B669999\n", 10))], ids=["busy", "paused"])
@pytest.mark.parametrize(("seat", "row"), [(0, 3), (1, 0)])
def test_row_whose_lateness_is_the_fault_of_the_other_seat_is_its_answer(
    seat: int, row: int, late: Sequence[Act]
) -> None:
    """It was read before the verdict."""
    played = disturbed(seat, row, *late, read_ms=50)

    played.assert_lost(1 - seat, Verdict.TURN_TIME, "did not stop")
    assert 1 == len(played.heard(seat, COLOURS[seat]))


def test_seat_with_an_externally_ended_container_does_not_lose_by_clean_up_work() -> None:
    ends: list[Act] = [Say(b"7,7\r\n"), Do(EntryKind.REPORT, ProcessReport("removed").encode(), ms=0)]
    busy = World(brain(BEGIN=ends), brain(*WHITE_ROW))
    busy.stopped_cpu_ms = {0: [0, 0, 50]}

    Game(busy, spec()).assert_void()


STUCK = RanOn(1000 * MS, 950 * MS)


class Lingering(World):
    """A killed box runs on for so long."""

    after_kill: Sequence[RanOn] = ()

    def kill(self, seat: int) -> None:
        super().kill(seat)
        self.ran_on = {seat: list(self.after_kill)}


def outlives_the_game(*ran: RanOn, seat: int = 0) -> Game:
    """A player that does not exit, and runs on for so long after its kill."""
    agents = [brain(*BLACK_ROW), brain(*WHITE_ROW)]
    agents[seat] = brain(*(BLACK_ROW, WHITE_ROW)[seat], END=[])
    stays = Lingering(*agents)
    stays.after_kill = ran
    return Game(stays, spec())


@pytest.mark.parametrize("seat", [0, 1])
def test_box_that_runs_on_after_the_game_is_a_failure_that_changes_no_result(seat: int) -> None:
    played = outlives_the_game(STUCK, STUCK, RanOn(300 * MS, 100 * MS), seat=seat)
    file = played.file()

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    failed = file.record.seats[seat]
    assert (Verdict.TURN_TIME, 2300.0, 2000.0) == (failed.fault, failed.lingered_ms, failed.lingered_cpu_ms)
    assert "did not end when it was killed: in 2300 ms after that it used 2000 ms of processor time" == failed.why
    assert file.record.seats[1 - seat].fault is None
    assert not verify(file).problems
    (case,) = cases(file)
    assert (2000.0, 1000) == (case.charged_ms, case.allowed_ms)
    assert failed.fault in FAILURES


@pytest.mark.parametrize(
    "ran", [[RanOn(1000 * MS, 10 * MS)] * 60, [RanOn(1000 * MS, None)] * 3, [RanOn(900 * MS, 900 * MS)]]
)
def test_box_that_a_slow_host_ends_late_is_no_failure(ran: list[RanOn]) -> None:
    """Without processor time, or with as much as the end of a large process takes."""
    played = outlives_the_game(*ran)

    played.assert_won()
    assert not verify(played.file()).problems


def test_the_goodbye_is_sent_when_the_other_box_is_gone() -> None:
    played = outlives_the_game(*[STUCK] * 5, RanOn(300 * MS, 300 * MS))
    kinds = [(entry.kind, entry.seat) for entry in played.world.entries]

    killed, said = kinds.index((EntryKind.KILLED, 0)), len(kinds) - 1 - kinds[::-1].index((EntryKind.WROTE, 1))
    assert 6 == kinds[killed:said].count((EntryKind.RAN_ON, 0))
    assert played.heard(1)[-1] == "END"


class NeverFrozen(World):
    """The freezer never confirms the second seat, which uses no processor time."""

    def freeze(self, seat: int) -> int | None:
        if seat == 1:
            self.ran_on = {1: [RanOn(1000 * MS, 0)] * 50}
        return super().freeze(seat)


def test_a_frozen_box_that_uses_no_processor_time_does_not_delay_the_goodbye() -> None:
    """A freezer may never confirm that a process is frozen which waits for another one."""
    played = Game(NeverFrozen(brain(*BLACK_ROW), brain(*WHITE_ROW)), spec())
    kinds = [(entry.kind, entry.seat) for entry in played.world.entries]

    played.assert_won()
    ended = len(kinds) - 1 - kinds[::-1].index((EntryKind.WROTE, 0))
    assert kinds[ended - 1] == (EntryKind.RAN_ON, 1)
    assert kinds[ended - 2] != (EntryKind.RAN_ON, 1)


def test_a_record_that_hides_the_lingering_does_not_verify() -> None:
    file = outlives_the_game(STUCK, STUCK).file()
    innocence = {"fault": None, "why": "", "evidence": None, "lingered_cpu_ms": 0}
    seats = (file.record.seats[0].model_copy(update=innocence), file.record.seats[1])
    problems = verify(resealed(file, unseal(file.transcript), seats=seats)).problems

    assert {"seats.0.fault", "seats.0.lingered_cpu_ms"} <= {problem.split(":")[0] for problem in problems}


def test_agent_that_cannot_be_ended_changes_no_verdict_and_is_recorded() -> None:
    stays = World(brain(*BLACK_ROW), brain(*WHITE_ROW, END=[]))
    stays.unkillable = {1}
    played = Game(stays, spec())
    file = played.file()

    played.assert_won()
    assert "the Engine refused to kill a container" == file.record.unclosed
    assert not verify(file).problems
    forged = resealed(file, unseal(file.transcript), unclosed="")
    assert [problem for problem in verify(forged).problems if problem.startswith("unclosed")]


class Unwritable(World):
    """The host fails at this write, from 0."""

    failing = 0

    def write_input(self, seat: int, data: bytes) -> None:
        super().write_input(seat, data)
        self.failing -= 1
        if self.failing < 0:
            raise HostError("the stdin of an agent could not be watched")


@pytest.mark.parametrize("policy", ["stratego-seed", "stratego-2011", "stratego-2012"])
@pytest.mark.parametrize("last", ["9 6 UP", "0 6 DOWN", exits(3)], ids=["surrender", "illegal", "exit"])
def test_host_that_fails_at_any_write_voids_the_game_only_before_its_end(policy: str, last: str | list[Act]) -> None:
    """The last answer is confirmed to both agents after the end."""
    game_spec = stratego.spec(policy)
    unclosed = []
    for failing in range(20):
        agents = stratego.agent("0 3 DOWN", "SURRENDER", rows=FULL_RED), stratego.agent(last, rows=FULL_BLUE)
        host = Unwritable(*agents)
        host.failing = failing
        referee = build_referee(game_spec)
        try:
            end = drive(referee.requests(), host)
        except HostError:
            assert referee.game.end is None
        else:
            assert not verify(marked_file(game_spec, end, referee, host.entries)).problems
            unclosed.append(referee.unclosed)

    assert {"", "the stdin of an agent could not be watched"} == set(unclosed)


def test_a_failure_of_the_host_before_the_end_and_entries_after_it_are_found() -> None:
    file = Game(world(), spec()).file()
    entries = unseal(file.transcript)
    middle = len(entries) // 2
    failure = Entry(entries[middle].ns, -1, EntryKind.FAILED, b"the disk is full")
    failed = verify(resealed(file, [*entries[:middle], failure, *entries[middle:]])).problems
    longer = verify(resealed(file, [*entries, Entry(entries[-1].ns, 0, EntryKind.READ, b"x")])).problems

    assert "the host failed before the game was over, which is a void: the disk is full" in failed
    assert "the record continues after the end of the game" in longer


def test_evidence_is_read_as_it_was_written_and_as_an_earlier_judge_wrote_it() -> None:
    counted = Evidence(memory_peak_bytes=1, memory_cap_bytes=2, oom_kills=0, cpu_ns=5_000_000)
    first = counted.model_copy(update={"others_share": 0.25, "held_by_others": False})
    measured = first.model_copy(update={"reached_cap": True, "interrupt_share": 0.125})

    assert measured == Evidence.decode(measured.encode())
    assert first == Evidence.decode(b"[1, 2, 0, 5000000, 0.25, false]")


class StoppedOpponent(World):
    """Reading `number` of a seat that has stopped in its opponent's turn says that it used 1.2 ms."""

    number = 0
    stopped: frozenset[int] = frozenset()

    def thaw(self, seat: int) -> int:
        self.stopped -= {seat}
        return super().thaw(seat)

    def start(self, seat: int) -> int:
        self.stopped -= {seat}
        return super().start(seat)

    def await_stopped(self, seat: int, bound_ns: int) -> RanOn | None:
        self.stopped |= {seat}
        return None

    def read_stopped_cpu(self, seat: int, asked: int) -> int:
        if seat not in self.stopped:
            return 0
        self.number -= 1
        if self.number:
            return 0
        self._note(seat, EntryKind.STOPPED_CPU, StoppedCpu(1_200_000, asked).encode())
        return 1_200_000


@pytest.mark.parametrize("number", range(1, 14))
def test_stopped_opponent_is_read_once_for_each_wait(number: int) -> None:
    """Rows of a set-up that came ahead are answers without a wait: two readings at one moment have one place."""

    def slow(agent: Agent) -> Agent:
        return lambda line: [Say(act.data, 5) if isinstance(act, Say) else act for act in agent(line)]

    terms = GameSpec(seats=scripted_seats("stratego"), policy=load_policy("stratego-2012"), seed=3)
    world = StoppedOpponent(slow(Polite("stratego", 1)), slow(Polite("stratego", 2)))
    world.number = number
    referee = build_referee(terms)
    end = drive(referee.requests(), world)
    file = marked_file(terms, end, referee, world.transcript)

    assert not verify(RecordFile.model_validate_json(file.to_json())).problems
