"""Games of agents that do what no agent should, under every policy and by every protocol that can sit at it.

Whatever they say, and whenever: the referee raises nothing; the record verifies, can be read, withheld and exported;
and no terminal would obey a word of it.
"""

import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.catalog.files import write_exports
from judge.protocols import PROTOCOLS
from judge.record.policy import load_policy, policy_names, variants_of
from judge.record.spec import GameSpec, RecordFile, public_part
from judge.record.transcript import EntryKind
from judge.referee.requests import drive
from judge.referee.setup import build_referee, check_playable
from judge.referee.verify import verify
from judge.sandbox.evidence import Evidence
from judge.testing import MS, Act, Agent, Do, Say, World, dies, exits, scripted_seats
from tests.examples import examples, sized
from tests.referee.games import marked_file

GAMES = sized(300, 10_000)
TURN_MS = 1000
NARROW = (
    f"clock.turn_ms={TURN_MS}",
    "clock.tolerance_ms=0",
    f"clock.start_ms={TURN_MS}",
    "clock.match_ms=30000",
    "bytes.game_bytes=40000",
)


def pairings() -> list[GameSpec]:
    """Every policy with every two protocols that can speak its game."""
    found = []
    for name in policy_names():
        for variant in ("", *(f":{each}" for each in variants_of(name))):
            policy = load_policy(name + variant, NARROW)
            for protocols in product(PROTOCOLS.names(), repeat=2):
                seats = scripted_seats(protocols[0])[0], scripted_seats(protocols[1])[1]
                spec = GameSpec(seats=seats, policy=policy, seed=3)
                try:
                    check_playable(spec)
                except InputError:
                    continue
                found.append(spec)
    return found


class Polite:
    """An agent of any protocol that says something of the right form whenever it is asked, and leaves at the end."""

    def __init__(self, protocol: str, seed: int) -> None:
        self._protocol = protocol
        self._chance = random.Random(seed)
        self._seat = 0
        self._lines: list[str] = []

    def __call__(self, line: str) -> Sequence[Act]:
        said: str | None = getattr(self, f"_{self._protocol}")(line)
        if said is None:
            return exits(0)
        return [Say(said.encode("latin-1"), self._chance.choice((0, 1, 40)))] if said else []

    def _square(self, side: int = 15) -> tuple[int, int]:
        return self._chance.randrange(side), self._chance.randrange(side)

    def _gomocup(self, line: str) -> str | None:
        word = line.partition(" ")[0]
        self._lines = [] if word == "SWAP2BOARD" else [*self._lines, line]
        x, y = self._square()
        match word:
            case "END":
                return None
            case "START" | "RECTSTART" | "RESTART" | "TAKEBACK":
                return "OK\r\n"
            case "ABOUT":
                return 'name="polite"\r\n'
            case "DONE" if self._lines and self._chance.random() < 0.3:
                return self._chance.choice(("SWAP\r\n", "7,7 8,8 6,7\r\n", "1,1 2,2\r\n"))
            case "BEGIN" | "TURN" | "DONE":
                return f"{x},{y}\r\n"
        return ""

    def _agi(self, line: str) -> str | None:
        x, y = self._square()
        match line.partition(" ")[0]:
            case "QUIT":
                return None
            case "AGI":
                return "ID NAME polite\nAGIOK\n"
            case "ISREADY":
                return "READYOK\n"
            case "GO":
                square = f"{y:X}{x + 1:X}"
                return f"INFO DEPTH 3 PV 78\nBESTMOVE {self._chance.choice((square, square, 'CHANGE'))}\n"
        return ""

    def _stratego(self, line: str) -> str | None:
        if line.startswith(("RED", "BLUE")):
            return "FB8sB479B8\nBB31555583\n6724898966\n7B59969299\n"
        if line.startswith("QUIT"):
            return None
        is_row = len(line) == 10 and " " not in line
        self._lines = [*self._lines, line] if is_row else []
        if len(self._lines) < 10:
            return ""
        board, self._lines = self._lines, []
        moves = [
            f"{x} {y} {word}\n"
            for y, x in product(range(10), repeat=2)
            if board[y][x] in "123456789s"
            for word, dx, dy in (("UP", 0, -1), ("DOWN", 0, 1), ("LEFT", -1, 0), ("RIGHT", 1, 0))
            if 0 <= x + dx < 10 and 0 <= y + dy < 10 and board[y + dy][x + dx] in ".#"
        ]
        return self._chance.choice(moves) if moves else "NO_MOVE\n"

    def _qchess(self, line: str) -> str | None:
        if line in ("white", "black"):
            self._seat = ("white", "black").index(line)
        x, y = self._square(8)
        if line.startswith("QUIT"):
            return None
        if line == "SELECTION?":
            return f"{x} {(6, 1)[self._seat]}\n"
        return f"{x} {y}\n" if line == "MOVE?" else ""

    def _person(self, line: str) -> str | None:
        x, y = self._square(10)
        if line.startswith("the game is over"):
            return None
        words = (f"{x},{y}", f"{x} {y}", f"{x} {y} UP", "FB8sB479B8", "SWAP", "h8")
        return f"{self._chance.choice(words)}\n" if line.startswith(("?", "!")) else ""


Misdeed = Callable[[Sequence[Act], random.Random], Sequence[Act]]
"""From what an agent would do on a line to what it does."""


def _bytes_of(acts: Sequence[Act]) -> bytes:
    return b"".join(act.data for act in acts if isinstance(act, Say))


def _silence(_acts: Sequence[Act], _chance: random.Random) -> Sequence[Act]:
    return []


def _at_the_limit(acts: Sequence[Act], chance: random.Random) -> Sequence[Act]:
    """Line by line, and all together about the moment at which the time is over."""
    first = TURN_MS + chance.choice((-1, 0, 0.001, 0.5, 1, 2, 30))
    lines = _bytes_of(acts).splitlines(keepends=True)
    return [Say(line, chance.choice((0, 0.5)) if n else first) for n, line in enumerate(lines)]


ODD_BYTES = (b"", b"\0", b"\xff", b" ", b",", b"\r", b"\n", b"-", b"9" * 30, b"\x1b[2J", b"\xc2\x9b")


def _near_miss(acts: Sequence[Act], chance: random.Random) -> Sequence[Act]:
    said = bytearray(_bytes_of(acts) or b"7,7\n")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(said) + 1)
        said[at : at + chance.randint(0, 2)] = chance.choice(ODD_BYTES)
    return [Say(bytes(said), 1)]


def _several(acts: Sequence[Act], chance: random.Random) -> Sequence[Act]:
    return [Say(_bytes_of(acts) * chance.randint(2, 6), 1), Say(_bytes_of(acts), 0)]


def _letters(acts: Sequence[Act], chance: random.Random) -> Sequence[Act]:
    return [Say(bytes([letter]), chance.choice((0, 0.01))) for letter in _bytes_of(acts)]


def _flood(acts: Sequence[Act], chance: random.Random) -> Sequence[Act]:
    line = chance.choice((b"\n", b"x", b"DEBUG\n7\n", b"MESSAGE " + b"\xff" * 400 + b"\r\n", b"7,7\n"))
    piece = line * (chance.choice((64, 4096)) // len(line))
    return [*([Say(piece, 0.01)] * chance.randint(1, 20)), *acts]


def _errors(acts: Sequence[Act], chance: random.Random) -> Sequence[Act]:
    piece = bytes(chance.randrange(256) for _ in range(300))
    return [*([Do(EntryKind.STDERR, piece, 0)] * chance.randint(1, 20)), *acts]


def _memory(acts: Sequence[Act], _chance: random.Random) -> Sequence[Act]:
    return [Do(EntryKind.OOM), *acts]


def _leaves(acts: Sequence[Act], chance: random.Random) -> Sequence[Act]:
    """Before its answer, behind it, or in the middle; PID 1's word may be the first to come, or never."""
    end = [*chance.choice((exits(0, 0), exits(3), dies(9), [Say(b"", 1)]))]
    if chance.random() < 0.2:
        end.reverse()
    said = _bytes_of(acts)
    cut = chance.choice((0, len(said) // 2, len(said)))
    return [*([Say(said[:cut], 1)] if cut else []), *end]


WORDS = (
    *("OK", "ERROR", "UNKNOWN", "DEBUG x\x07", "MESSAGE \x1b[2J\x9b", "SUGGEST 7,7", "SUGGEST x", "SWAP"),
    *("7,7", "7,7 8,8 6,7", "1,", "-1,-1", "AGIOK", "READYOK", "BESTMOVE 78", "BESTMOVE CHANGE", "BYE"),
    *("INFO DEPTH 4 PV \x00", "ID NAME \xff", "NO_MOVE", "SURRENDER", "0 3 DOWN", "0 3 DOWN 99", "0 6 UP x"),
    *("FB8sB479B8", "", " ", "0 0", "0 6", "99999999999999999999 0", "QUIT", "debug \t7,7", 'name="\x85"'),
)


def _words(acts: Sequence[Act], chance: random.Random) -> Sequence[Act]:
    """Words of all protocols, before the answer, behind it and in place of it."""
    ends = ("\n", "\r\n", "\r", "")
    said = [(chance.choice(WORDS) + chance.choice(ends)).encode("latin-1") for _ in range(chance.randint(1, 8))]
    before, behind = ([Say(each, chance.choice((0, 1))) for each in half] for half in (said[::2], said[1::2]))
    return [*before, *(acts if chance.random() < 0.7 else ()), *behind]


MISDEEDS: Sequence[Misdeed] = (
    *(_silence, _at_the_limit, _near_miss, _several, _letters, _flood, _errors, _memory, _leaves, _words),
    *(_near_miss, _words, _words, _at_the_limit),
)


@dataclass(frozen=True)
class Will:
    """What an agent does wrong: at which of the times that it would say something, and in which way."""

    seed: int
    deeds: Sequence[tuple[int, int]]
    noise: bytes

    def agent(self, protocol: str) -> Agent:
        polite, chance = Polite(protocol, self.seed), random.Random(self.seed)
        deeds = {at: MISDEEDS[deed] for at, deed in self.deeds}
        times = 0
        has_ended = False

        def hear(line: str) -> Sequence[Act]:
            nonlocal times, has_ended
            if has_ended:
                return []
            acts = list(polite(line))
            if acts:
                times += 1
                if times in deeds:
                    acts = list(deeds[times](acts, chance))
                    if self.noise:
                        acts.insert(chance.randint(0, len(acts)), Say(self.noise, 0))
                elif times > 40:
                    acts = []
            ends = [n for n, act in enumerate(acts) if act == Say(b"", act.ms)]
            if ends:
                has_ended = True
                acts = [act for n, act in enumerate(acts) if n <= ends[0] or isinstance(act, Do)]
            return acts

        return hear


class Tardy(World):
    """A world in which no two things happen at once, and a seat at fault runs on until it is frozen."""

    def measure(self, seat: int) -> Evidence:
        for body in self.bodies:
            left: float = 2 * MS
            body.hear()
            for number, (wait, act) in enumerate(body.acts if body.runs else ()):
                if wait > left:
                    break
                left -= wait
                body.acts[number] = (0, act)  # it is in the pipe
        return super().measure(seat)

    def _note(self, seat: int, kind: EntryKind, data: bytes = b"") -> None:
        self.now += 1
        super()._note(seat, kind, data)

    def _happen(self, seat: int):  # type: ignore[no-untyped-def]
        self.now += 1
        return super()._happen(seat)


SPECS = pairings()
WILLS = st.builds(
    Will,
    seed=st.integers(0, 1 << 32),
    deeds=st.lists(
        st.tuples(st.one_of(st.integers(1, 4), st.integers(1, 20)), st.integers(0, len(MISDEEDS) - 1)),
        max_size=4,
    ),
    noise=st.one_of(st.just(b""), st.binary(max_size=40), st.just(b"DEBUG a\nDEBUG b\r\nDEB")),
)


def recorded(spec: GameSpec, wills: Sequence[Will]) -> RecordFile:
    """A game, as `play` records it."""
    agents = [will.agent(seat.protocol) for will, seat in zip(wills, spec.seats, strict=True)]
    ponders = spec.policy.clock.ponder
    world = Tardy(*agents, ponders=ponders)
    referee = build_referee(spec)
    end = drive(referee.requests(), world)
    cores = ((1,), (2,)) if ponders else ()
    return marked_file(spec, end, referee, world.transcript, cores)


def test_every_policy_and_every_protocol_is_in_it() -> None:
    assert set(policy_names()) == {spec.policy.name for spec in SPECS}
    assert set(PROTOCOLS.names()) == set(chain(*((s.protocol for s in spec.seats) for spec in SPECS)))
    assert any(len({seat.protocol for seat in spec.seats}) == 2 for spec in SPECS)


@settings(
    max_examples=examples(GAMES), deadline=None, suppress_health_check=list(HealthCheck), derandomize=GAMES <= 300
)
@given(number=st.integers(0, len(SPECS) - 1), first=WILLS, second=WILLS, ponders=st.booleans())
def test_whatever_agents_do_a_game_has_an_end_and_a_record(
    number: int, first: Will, second: Will, ponders: bool
) -> None:
    spec = SPECS[number]
    clock = spec.policy.clock.model_copy(update={"ponder": ponders and spec.policy.box.sharing == 1})
    spec = spec.model_copy(update={"policy": spec.policy.model_copy(update={"clock": clock})})
    file = recorded(spec, (first, second))

    data = file.to_json()
    again = RecordFile.model_validate_json(data)
    assert len(data) <= spec.policy.bounds().record_bytes
    assert [] == list(verify(again).problems)
    assert [] == list(verify(public_part(again)).problems)
    record = again.record
    words = [record.reason, record.result, *(text for seat in record.seats for text in (seat.why, *seat.notes))]
    assert all(letter.isprintable() for text in words for letter in text), words
    with tempfile.TemporaryDirectory() as folder:
        write_exports(again, Path(folder) / "game.json")
        written = [path.read_bytes() for path in Path(folder).iterdir()]
    assert len(written) == 1
    assert all(byte in b"\r\n" or 32 <= byte < 127 for text in written for byte in text)
