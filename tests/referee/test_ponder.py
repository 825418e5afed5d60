"""Games of agents that may run in the opponent's time: in a simulated world, and in boxes with their own cores."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.agents.program_files import program_digest
from judge.attacks.programs import build_attacks
from judge.games.types import Verdict
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.play.game import play as play_in_boxes
from judge.play.venue import Slot, Venue
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, RecordFile, SeatSpec
from judge.record.transcript import EntryKind, unseal
from judge.referee.blame import Void
from judge.referee.observer import AnswerObserver
from judge.referee.requests import drive
from judge.referee.setup import build_referee
from judge.referee.side import Ply
from judge.referee.verify import verify
from judge.sandbox.box import BoxKind
from judge.sandbox.evidence import ProcessReport
from judge.sandbox.machine.cores import whole_cores
from judge.testing import MS, Act, Agent, Do, Say, World, dies
from tests.examples import examples
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, marked_file, play, spec

PONDER: dict[str, Any] = {"ponder": True}


def pondering(moves: tuple[str, ...], *acts: Act, at: int = 1) -> Agent:
    """A brain that plays `moves`, and after the answer number `at` acts in the opponent's time."""
    honest, answers = brain(*moves), iter(range(1, 100))

    def hear(line: str) -> list[Act]:
        said = list(honest(line))
        is_answer = line.split()[:1] in (["BEGIN"], ["TURN"])
        return [*said, *acts] if is_answer and next(answers) == at else said

    return hear


def game(first: Agent, second: Agent) -> Game:
    return Game(World(first, second, ponders=True), spec(clock=PONDER))


def thinker() -> Agent:
    """Answers after 50 ms, so that the other seat has time to act."""
    return brain(*WHITE_ROW, ms=50)


def test_time_in_the_opponents_turn_is_not_charged() -> None:
    played = game(pondering(BLACK_ROW, Say(b"DEBUG thinking\r\n", 30)), thinker())

    played.assert_won()
    assert ({1}, {50}) == ({*played.charged_ms(0)}, {*played.charged_ms(1)})


@pytest.mark.parametrize(
    ("acts", "verdict"),
    [
        (dies(11, 20), Verdict.CRASH),
        ([Do(EntryKind.REPORT, ProcessReport("exited", 0).encode(), 5), Say(b"", 0)], Verdict.CRASH),
        ([Do(EntryKind.OOM, b"", 20)], Verdict.MEMORY),
        ([Do(EntryKind.KERNEL, b"%d" % (1 << 30), 20)], Verdict.MEMORY),
        ([Say(b"x\r\n" * 9000, 20)], Verdict.OUTPUT),
        ([Say(b"DEBUG " + b"x" * 60000 + b"\r\n", 1)] * 20, Verdict.OUTPUT),
    ],
    ids=["killed", "exits", "memory", "kernel memory", "lines", "bytes"],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_fault_in_the_opponents_turn_loses_at_the_next_request(acts: list[Act], verdict: Verdict, seat: int) -> None:
    honest = brain(*(WHITE_ROW if seat == 0 else BLACK_ROW), ms=50)
    faulty = pondering(BLACK_ROW if seat == 0 else WHITE_ROW, *acts)
    played = game(*((faulty, honest) if seat == 0 else (honest, faulty)))

    assert (verdict, 1 - seat) == (played.verdict, played.winner)
    assert {50} == {*played.charged_ms(1 - seat)}
    assert 1 == len(played.charged_ms(seat))
    assert not verify(record_in_slot(played)).problems


def test_opponent_wins_by_the_rules_although_the_other_seat_died_before() -> None:
    blocked = ("0,0", "1,0", "2,0", "3,0", "9,9")
    game(pondering(blocked, *dies(9, 10), at=5), thinker()).assert_won(1)


def test_use_of_the_kernel_that_is_seen_after_a_kill_makes_no_void() -> None:
    """White refuses the size of the board, ignores END, and is killed; then its peak is read in black's start."""
    options = {"width": 20, "height": 20, "other_sizes": [19, 15]}

    class LateReading(World):
        def kill(self, seat: int) -> None:
            super().kill(seat)
            self.bodies[seat].acts.append((MS // 2, Do(EntryKind.KERNEL, b"%d" % (1 << 30), 0.5)))
            self.bodies[seat].runs = True

    def refuse(line: str) -> list[Act]:
        return [Say(b"ERROR no\r\n")] if line.startswith("START") else []

    terms = spec(game={"name": "gomoku", "options": options}, clock=PONDER)
    black = brain(*BLACK_ROW, ms=50, START=[Say(b"OK\r\n", 50)])
    referee = build_referee(terms)

    assert not isinstance(drive(referee.requests(), LateReading(black, refuse, ponders=True)), Void)


def test_move_printed_while_pondering_is_not_the_next_answer() -> None:
    assert BLACK_ROW[1] == game(pondering(BLACK_ROW, Say(b"14,14\r\n", 20)), thinker()).said[2]


ACTS = st.lists(
    st.one_of(
        st.builds(Say, st.binary(max_size=300), st.integers(0, 40)),
        st.builds(Say, st.sampled_from([b"SUGGEST 7,7\r\n", b"ERROR\r\n", b"MESSAGE x\r\n" * 500]), st.integers(0, 40)),
        st.builds(Do, st.sampled_from([EntryKind.STDERR, EntryKind.OOM]), st.just(b""), st.integers(0, 40)),
        st.builds(Do, st.just(EntryKind.KERNEL), st.just(b"%d" % (1 << 30)), st.integers(0, 40)),
    ),
    max_size=8,
)


@settings(deadline=None, max_examples=examples(200))
@given(ACTS, st.integers(1, 4))
def test_no_act_of_a_pondering_agent_costs_its_opponent_time_or_makes_a_void(acts: list[Act], at: int) -> None:
    """The record of each game replays (`ScriptedGame`)."""
    played = game(pondering(BLACK_ROW, *acts, at=at), thinker())

    assert Verdict.VOID is not played.verdict
    assert played.faults[1] is None
    assert {*played.charged_ms(1)} <= {50}


def test_output_is_parsed_after_the_opponents_turn() -> None:
    """Parsing many lines takes longer than reading them, and would delay the reading of the opponent's answer."""
    world = World(pondering(BLACK_ROW, Say(b"MESSAGE one\r\n", 5)), thinker(), ponders=True)
    seen: list[tuple[int, bool, int]] = []

    def watch(ply: Ply) -> None:
        is_read = any(entry.kind is EntryKind.READ and b"one" in entry.data for entry in world.entries)
        seen.append((ply.seat, is_read, len(referee.sides[0].notes)))

    referee = build_referee(spec(clock=PONDER), AnswerObserver(watch))
    drive(referee.requests(), world)

    assert [(0, False, 0), (1, True, 0), (0, True, 1)] == seen[:3]


def record_in_slot(played: Game, cores: tuple[tuple[int, ...], ...] = ((1,), (2,))) -> RecordFile:
    return marked_file(played.spec, played.end, played.referee, played.world.entries, cores)


@pytest.mark.parametrize(
    ("policy", "cores", "problem"),
    [
        ({}, (), ""),
        ({}, ((1,), (2,)), "the record divides the slot's cores, but its agents do not ponder"),
        (PONDER, ((1,), (2,)), ""),
        *(
            (PONDER, cores, "agents ponder, but the record does not divide the slot's cores between the seats")
            for cores in [(), ((1, 2),), ((1,), ()), ((1,), (1,)), ((1, 2), (2,)), ((1,), (3,))]
        ),
    ],
)
def test_verify_checks_the_cores_of_the_seats(
    policy: dict[str, Any], cores: tuple[tuple[int, ...], ...], problem: str
) -> None:
    file = record_in_slot(play(brain(*BLACK_ROW), brain(*WHITE_ROW), spec(clock=policy)), cores)

    assert ([problem] if problem else []) == list(verify(file).problems)


@pytest.fixture(scope="module")
def slot() -> Slot:
    """Two cores for agents. The judge shares the first one where there is no third."""
    cores = whole_cores()
    if len(cores) < 2:
        pytest.skip("pondering needs two cores")
    return Slot(tuple(sorted(sum(cores[-2:], ()))), cores[0])


def played_in_boxes(
    slot: Slot, box: BoxKind, words: tuple[str, ...], clock: dict[str, Any], opponent: tuple[str, ...]
) -> RecordFile:
    build_images(["native"])
    programs = build_attacks()
    digest = program_digest(programs)
    seats = tuple(
        SeatSpec(name=name, digest=digest, command=command, runtime="native", protocol="gomocup")
        for name, command in (("ponderer", words), ("opponent", opponent))
    )
    chosen = spec(clock={"turn_ms": 20000, "match_ms": 0} | clock).model_copy(update={"seats": seats, "box": box})
    return play_in_boxes(chosen, {digest: programs}, venue=Venue(slot))


@pytest.mark.alone
@pytest.mark.docker
@pytest.mark.parametrize(("clock", "is_possible"), [(PONDER, True), ({}, False)], ids=["clock.ponder", "frozen"])
def test_agent_in_a_container_uses_its_own_core_in_the_opponents_time(
    slot: Slot, clock: dict[str, Any], is_possible: bool
) -> None:
    file = played_in_boxes(slot, "docker", ("cpu", "ponder-thread"), clock, ("honest", "think", "400"))
    record = file.record

    assert Verdict.WIN is record.verdict, record.reason
    assert is_possible == ("got pondering" in record.seats[0].notes)
    if is_possible:
        assert (record.seats[0].cpu_ms or 0) > record.seats[0].charged_ms
    assert not verify(file).problems
    assert ((slot.cores[:1], slot.cores[1:]) if is_possible else ()) == record.placement.seat_cores


@pytest.mark.docker
def test_process_without_cores_may_ponder() -> None:
    """Its opponent thinks for 600 ms, in which also a busy host lets it run."""
    opponent = ("honest", "think", "600")
    file = played_in_boxes(Slot(), "process", ("cpu", "ponder-thread"), PONDER, opponent)

    assert "got pondering" in file.record.seats[0].notes
    assert not verify(file).problems


@pytest.mark.docker
def test_engine_gets_ponder_commands_and_plays_on(slot: Slot) -> None:
    """house-agi has ponder commands in its protocol, its opponent does not."""
    build_images(["native"])
    agents = {name: build_house_agents()[name] for name in ("house-agi", "house-renju")}
    digests = {name: program_digest(path) for name, path in agents.items()}
    first, second = (
        SeatSpec(name=name, digest=digests[name], command=(name,), runtime="native", protocol=protocol)
        for name, protocol in (("house-agi", "agi"), ("house-renju", "gomocup"))
    )
    policy = load_policy("renju-15", ["clock.ponder=true", "clock.turn_ms=1000", "clock.match_ms=60000"])
    chosen = GameSpec(seats=(first, second), policy=policy)
    file = play_in_boxes(chosen, {digests[name]: path for name, path in agents.items()}, venue=Venue(slot))
    written = b"".join(e.data for e in unseal(file.transcript) if (e.kind, e.seat) == (EntryKind.WROTE, 0))

    assert [None, None] == [seat.fault for seat in file.record.seats], file.record.reason
    assert written.count(b"GO PONDER\n") > 2
    assert written.count(b"STOP\nISREADY\n") >= written.count(b"GO PONDER\n") - 1
    assert not verify(file).problems
