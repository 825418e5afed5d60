"""Recorded games of UCC's Stratego managers, and a driver that plays the referee's role on their recorded bytes.

A recording is a directory: `command.txt`, `RED_*.wire` and `BLUE_*.wire` (a line a line: `M> ` the manager wrote, `A> `
the agent wrote, `#` how it ended; `<EOF-no-newline>` marks text that no line end followed), `game.log`,
`manager.stdout`. A packed set is one gzipped JSON file: name -> file -> its text, bytes as Latin-1.
"""

import gzip
import json
import re
import shlex
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judge.games.stratego import Stratego
from judge.games.types import NATURE, SEATS, AgentFault, Drawn, Event, Reply, Verdict, decided
from judge.protocols import new_protocol
from judge.protocols.time_control import UNLIMITED_MS, TimeControl
from judge.protocols.types import Answer, Ask, Bytes, Clock, Close, Effect, Open, SeatLimits, Tell, Write

CLOCK = Clock(2000, UNLIMITED_MS)
"""The managers told nothing of a game clock."""
DATA = Path(__file__).parent / "data"
UNENDED = b"<EOF-no-newline>"

Pieces = Literal["lines", "bytes", "burst"]
"""How an agent's output arrives: line by line, byte by byte, or all at the first look."""


@dataclass(frozen=True)
class Recording:
    """A game as it was played under an original manager. Two entries where there are two: RED's, BLUE's."""

    name: str
    command: list[str]
    sent: tuple[bytes, bytes]
    """All that the manager wrote to each agent."""
    said: tuple[tuple[bytes, ...], tuple[bytes, ...]]
    """What each agent wrote before it was told to quit, cut as it was recorded."""
    log: bytes
    stdout: bytes

    @classmethod
    def of_files(cls, name: str, files: dict[str, bytes]) -> "Recording":
        wires = [next(data for file, data in files.items() if file.startswith(colour)) for colour in ("RED_", "BLUE_")]
        return cls(
            name,
            shlex.split(files["command.txt"].decode()),
            (_sent(wires[0]), _sent(wires[1])),
            (_said(wires[0]), _said(wires[1])),
            files["game.log"],
            files["manager.stdout"],
        )

    @property
    def names(self) -> tuple[str, str]:
        return self.command[-2], self.command[-1]

    @property
    def options(self) -> dict[str, Any]:
        """What the command line says about the rules."""
        return {
            "turn_limit": int(self._value("-m", "5000")),
            "tolerate_illegal": "-i" in self.command,
        }

    @property
    def reply_s(self) -> float:
        return float(self._value("-T", "2"))

    @property
    def silence(self) -> Verdict:
        """What became of an agent from which no reply came, as the log gives it."""
        late = (b"Response timeout", b"Did not make a move")
        return Verdict.TURN_TIME if any(words in self.log for words in late) else Verdict.CRASH

    def tosses(self) -> Iterator[int]:
        """How equal ranks fared, in order: 0 where the attacker won."""
        for match in re.finditer(rb" (KILLS|DIES) (\S) \2\n", self.log):
            yield 0 if match[1] == b"KILLS" else 1

    def _value(self, option: str, default: str) -> str:
        if option not in self.command:
            return default
        return self.command[self.command.index(option) + 1]


def read_set(path: Path) -> list[Recording]:
    """The recordings of a packed file."""
    packed = json.loads(gzip.decompress(path.read_bytes()))
    return [
        Recording.of_files(name, {file: text.encode("latin-1") for file, text in packed[name].items()})
        for name in sorted(packed)
    ]


def _sent(wire: bytes) -> bytes:
    return b"".join(_lines(wire, b"M> "))


def _said(wire: bytes) -> tuple[bytes, ...]:
    return tuple(_lines(wire.split(b"\nM> QUIT ")[0] + b"\n", b"A> "))


def _lines(wire: bytes, mark: bytes) -> Iterator[bytes]:
    for line in wire.removesuffix(b"\n").split(b"\n"):
        if line.startswith(mark):
            text = line.removeprefix(mark)
            yield text.removesuffix(UNENDED) if text.endswith(UNENDED) else text + b"\n"


def drive(recording: Recording, rules: str, pieces: Pieces = "lines") -> "Replayed":
    """Play `recording` again: its replies in, what we say and decide out."""
    options = {"rules": rules} | recording.options
    if rules == "stratego-2012":
        options["tolerate_unreadable"] = options["tolerate_illegal"]
    return Replayed(recording, Stratego.from_options(options), pieces)


class Replayed:
    """What came of a recording under our game and protocol."""

    def __init__(self, recording: Recording, game: Stratego, pieces: Pieces) -> None:
        self.game, self.names = game, recording.names
        self.sent = (bytearray(), bytearray())
        self.fell_silent: list[int] = []
        """Seats from which no reply came."""
        self._protocols = [new_protocol("stratego", {"carriage_return": "keep"}) for _ in SEATS]
        self._unread = [deque(_cut(recording.said[seat], pieces)) for seat in SEATS]
        self._play(recording.tosses(), recording.silence)

    @property
    def result(self) -> str:
        return self.game.result(self.names)

    def _play(self, tosses: Iterator[int], silence: Verdict) -> None:
        game = self.game
        for seat in SEATS:
            self._do(seat, Open(seat, game.describe(), self.names, SeatLimits(TimeControl(turn_ms=2000), 0)))
        while game.end is None:
            request = game.pending()
            if request.seat == NATURE:
                self._tell(game.apply(decided(Drawn(next(tosses)))))
                continue
            answer = self._do(request.seat, Ask(request, CLOCK))
            while answer is None and self._unread[request.seat]:
                answer = self._do(request.seat, Bytes(self._unread[request.seat].popleft(), CLOCK))
            if answer is None:
                self.fell_silent.append(request.seat)
                self._tell(game.forfeit(AgentFault(silence, request.seat, "said nothing in the recording")))
            else:
                self._tell(game.apply(answer))
        for seat in SEATS:
            self._do(seat, Close(self.result))

    def _tell(self, events: Sequence[Event]) -> None:
        for event in events:
            for seat in SEATS:
                if event.only in (None, seat):
                    self._do(seat, Tell(event))

    def _do(self, seat: int, stimulus: Any) -> Reply | None:
        effects: Sequence[Effect] = self._protocols[seat].feed(stimulus)
        reply = None
        for effect in effects:
            if isinstance(effect, Write):
                self.sent[seat].extend(effect.data)
            elif isinstance(effect, Answer):
                reply = effect.reply
        return reply


def _cut(said: tuple[bytes, ...], pieces: Pieces) -> Sequence[bytes]:
    whole = b"".join(said)
    match pieces:
        case "lines":
            return said
        case "burst":
            return [whole] if whole else []
        case "bytes":
            return [whole[at : at + 1] for at in range(len(whole))]
