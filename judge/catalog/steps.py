"""The steps of a finished game, from a record (refereed again) or a game file (replayed).

If a replay fails, the steps end there and `problem` has the reason.
"""

from pathlib import Path

from judge.base.errors import InputError
from judge.catalog import GAMES, game_entry
from judge.catalog.files import is_record, read_bytes, recognise
from judge.games.types import Verdict
from judge.records.outcome import outcome_sentence
from judge.records.steps import ReplayStep, Stepped
from judge.referee.replay import ReplayWire
from judge.referee.setup import build_replay
from judge.referee.side import Ply
from judge.referee.spec import GameRecord, RecordFile, read_record
from judge.referee.spectator import collect_messages
from judge.referee.transcript import unseal


def read_steps(path: Path) -> Stepped:
    """Steps of a record or a game file. Raises InputError."""
    data = read_bytes(path)
    if is_record(data):
        return steps_of(read_record(path))
    found = recognise(data)
    if found is None:
        games = ", ".join(GAMES.names())
        raise InputError(f"{path}: neither a record nor a log of an installed game ({games})")
    return found[0].read_log(data, str(path))


def replayed_log(path: Path) -> str | None:
    """Rules and result; None for files that are no log. Raises InputError with the line."""
    data = read_bytes(path)
    found = None if is_record(data) else recognise(data)
    return None if found is None else found[0].replay_log(data, str(path))


def steps_of(file: RecordFile) -> Stepped:
    """Raises InputError if the transcript is broken."""
    collector = _Collector(file)
    problem = collector.collect()
    record = file.record
    if record.verdict is Verdict.VOID:
        problem = ""
    return Stepped(
        f"{record.spec.policy.name}, {record.id}",
        (record.seats[0].name, record.seats[1].name),
        collector.steps,
        result_words(record),
        problem,
        record,
    )


def result_words(record: GameRecord) -> str:
    """One line on how a game ended; may contain an agent's text."""
    names = (record.seats[0].name, record.seats[1].name)
    return outcome_sentence(record.verdict, record.winner, names, record.reason)


class _Collector:
    """A step is recorded when an answer's effect is visible: at the next answer, or at the end."""

    def __init__(self, file: RecordFile) -> None:
        self.steps: list[ReplayStep] = []
        self._wire = ReplayWire(unseal(file.transcript))
        self._entry = game_entry(file.record.spec.policy.game.name)
        self._referee = build_replay(file.record, self._wire, self._watch)
        self._messages_of = collect_messages(self._referee)
        self._ply: Ply | None = None
        self._at_ns = 0
        self._messages: tuple[str, ...] = ()
        self._left_ms = self._left()

    def collect(self) -> str:
        problem = ""
        try:
            self._referee.play()
        except InputError as error:
            problem = str(error)
        self._take()
        return problem

    def _watch(self, ply: Ply) -> None:
        self._take()
        messages = self._messages_of[ply.seat]
        self._ply, self._messages, self._left_ms = ply, tuple(messages), self._left()
        self._at_ns = self._wire.now_ns
        messages.clear()

    def _take(self) -> None:
        before = self.steps[-1].view if self.steps else None
        view = self._entry.view(self._referee.game).since(before)
        if self._ply is None:
            self.steps.append(ReplayStep(view, left_ms=self._left_ms))
            return
        seat, said, charged_ns, search, memory_bytes = self._ply
        ms, at_ns = charged_ns / 1e6, self._at_ns
        step = ReplayStep(view, seat, said, ms, search, self._messages, self._left_ms, memory_bytes, at_ns)
        self.steps.append(step)

    def _left(self) -> tuple[int | None, int | None]:
        first, second = self._referee.sides
        return _ms(first.clock.left_ns()), _ms(second.clock.left_ns())


def _ms(ns: int | None) -> int | None:
    return None if ns is None else ns // 1_000_000
