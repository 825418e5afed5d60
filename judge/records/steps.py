"""A finished game step by step: the position before the first answer and after each one, with what was said and when.

A record is refereed again from its transcript, once; the logs of the field are played again by the rules. What cannot
be played to its end (a void, a changed record) is there as far as it goes, and `problem` says why it stops.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from judge.errors import InputError
from judge.games.quantum_chess import QuantumChess
from judge.games.stratego import Stratego
from judge.games.types import NATURE, AgentFault, Game, Reply, Verdict
from judge.records.formats import is_five, read_games
from judge.records.gomoku.record import FiveRecord
from judge.records.quantum_chess import log as qchess_log
from judge.records.quantum_chess import replay as qchess_replay
from judge.records.stratego import log as stratego_log
from judge.records.stratego import replay as stratego_replay
from judge.records.ucc_logs import RULE_SETS
from judge.records.views import BoardView, bare_stones_view, view_of
from judge.referee.side import Ply
from judge.referee.spec import MatchRecord, RecordFile, read_record
from judge.referee.spectator import Onlooker, SeenWire
from judge.referee.transcript import unseal


@dataclass(frozen=True, slots=True)
class Step:
    """The game after an answer; the first one is before any."""

    view: BoardView
    seat: int | None = None
    """Whose answer it was."""
    said: str = ""
    """As it was said: to be escaped."""
    ms: float | None = None
    """The time charged for it; None where nobody knows."""
    search: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    """What this seat said beside it, and what the judge noted, since its answer before; to be escaped."""
    left_ms: tuple[int | None, int | None] = (None, None)
    """What each seat had left of its match time; None where there is no limit or nobody knows."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """A whole game. `title` says what was played, `result` how it ended."""

    title: str
    names: tuple[str, str]
    steps: Sequence[Step]
    result: str
    problem: str = ""
    record: MatchRecord | None = None


def read_steps(path: Path) -> Stepped:
    """The game of a record, of a file of five in a row, or of a UCC contest's log; InputError names what is wrong."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    source = str(path)
    if data.lstrip()[:1] == b"{":
        return steps_of(read_record(path))
    if data.startswith(b"# "):
        return _steps_of_qchess(qchess_log.read_log(data, source))
    if is_five(data):
        return _first_five(path)
    return _steps_of_stratego(stratego_log.read_log(data, source))


def _first_five(path: Path) -> Stepped:
    """Of a file that holds many games the first one."""
    game = read_games(path)[0]
    if not game.has_board:
        raise InputError(f"{path}: it holds results alone, no moves")
    return _steps_of_five(game)


# --- records ---------------------------------------------------------------------------------------------------------


def steps_of(file: RecordFile) -> Stepped:
    """The game of a record; InputError when its transcript is broken."""
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


def result_words(record: MatchRecord) -> str:
    """How a game ended, in one line; it may hold an agent's own words."""
    if record.verdict is Verdict.VOID:
        who = "void: does not count"
    elif record.winner is None:
        who = "drawn" if record.verdict is Verdict.DRAW else "nobody wins"
    else:
        who = f"{record.seats[record.winner].name} wins"
    return f"{who} ({record.verdict}): {record.reason}"


class _Collector:
    """Referees a record again; a step is taken when the effect of an answer is seen: at the next one, or at the end."""

    def __init__(self, file: RecordFile) -> None:
        self.steps: list[Step] = []
        wire = SeenWire(unseal(file.transcript))
        self._onlooker = Onlooker(file.record.spec, wire, self._watch)
        self._ply: Ply | None = None
        self._messages: tuple[str, ...] = ()
        self._left_ms = self._left()

    def collect(self) -> str:
        """All steps; why they stop, where they should not."""
        problem = ""
        try:
            self._onlooker.referee.play()
        except InputError as error:
            problem = str(error)
        self._take()
        return problem

    def _watch(self, ply: Ply) -> None:
        self._take()
        messages = self._onlooker.seats[ply.seat].messages
        self._ply, self._messages, self._left_ms = ply, tuple(messages), self._left()
        messages.clear()

    def _take(self) -> None:
        before = self.steps[-1].view if self.steps else None
        view = view_of(self._onlooker.game).since(before)
        if self._ply is None:
            self.steps.append(Step(view, left_ms=self._left_ms))
            return
        seat, said, charged_ns, search = self._ply
        self.steps.append(
            Step(view, seat, said, charged_ns / 1e6, search, self._messages, self._left_ms)
        )

    def _left(self) -> tuple[int | None, int | None]:
        first, second = (side.clock.left_ns() for side in self._onlooker.referee.sides)
        return _ms(first), _ms(second)


def _ms(ns: int | None) -> int | None:
    return None if ns is None else ns // 1_000_000


# --- logs of the field -----------------------------------------------------------------------------------------------


def _steps_of_five(game: FiveRecord) -> Stepped:
    stones = [(x, y, number & 1) for number, (x, y, _) in enumerate(game.moves)]
    steps = [Step(bare_stones_view(game.width, game.height, []))]
    for number, (x, y, ms) in enumerate(game.moves, 1):
        view = bare_stones_view(game.width, game.height, stones[:number])
        steps.append(Step(view.since(steps[-1].view), (number - 1) & 1, f"{x},{y}", float(ms)))
    names = game.names or ("black", "white")
    won = {"black": f"{names[0]} wins", "white": f"{names[1]} wins", "draw": "drawn"}
    result = won.get(game.outcome, "no result")
    said = f"{result} ({game.verdict})" if game.verdict else result
    return Stepped(f"{game.width}x{game.height}", names, steps, said)


def _steps_of_qchess(log: qchess_log.QchessLog) -> Stepped:
    replayed = qchess_replay.replay(log)
    game = QuantumChess(replayed.game.options)
    steps: list[Step] = []
    for answered in replayed.answers:
        if answered.seat == NATURE:
            game.apply(answered.reply)
            _see_effect(steps, game)
            continue
        _begin(steps, game)
        game.apply(answered.reply)
        _add(steps, game, answered.seat, answered.reply.said)
    _begin(steps, game)
    result = replayed.game.result(log.names) or "unfinished"
    return Stepped("quantum-chess", log.names, steps, result)


def _steps_of_stratego(log: stratego_log.StrategoLog) -> Stepped:
    rules = _rules_of(log)
    game = Stratego(stratego_replay.options_of(log, rules))
    steps: list[Step] = []
    _begin(steps, game)
    for seat, answer in _asked(log, game):
        if isinstance(answer, AgentFault):
            game.forfeit(answer)
        elif seat == NATURE:
            game.apply(answer)
            _see_effect(steps, game)
        else:
            game.apply(answer)
            _add(steps, game, seat, answer.said)
    result = game.result(log.names) if game.end else "unfinished"
    return Stepped(rules, log.names, steps, result)


def _asked(
    log: stratego_log.StrategoLog, game: Stratego
) -> Iterator[tuple[int, Reply | AgentFault]]:
    for answer in stratego_replay.answers(log, game):
        yield game.pending().seat, answer


def _rules_of(log: stratego_log.StrategoLog) -> str:
    """The first rule set that does not contradict the log, which does not say by which it was played."""
    objections = []
    for rules in RULE_SETS:
        try:
            stratego_replay.replay(log, stratego_replay.options_of(log, rules))
        except InputError as error:
            objections.append(error)
        else:
            return rules
    raise objections[0]


def _begin(steps: list[Step], game: Game) -> None:
    """The step before the first answer, once nature has drawn what is drawn before."""
    if not steps:
        steps.append(Step(view_of(game)))


def _add(steps: list[Step], game: Game, seat: int, said: str) -> None:
    steps.append(Step(view_of(game).since(steps[-1].view), seat, said))


def _see_effect(steps: list[Step], game: Game) -> None:
    """What nature decided belongs to the answer that asked for it."""
    if len(steps) > 1:
        last = steps.pop()
        view = view_of(game).since(steps[-1].view)
        steps.append(Step(view, last.seat, last.said))
