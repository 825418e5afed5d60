"""A finished game in the formats of its field: the files that stand beside its record."""

from collections.abc import Callable, Mapping
from pathlib import Path

from judge.durable import write_durably
from judge.records.gomoku.psq import write_psq
from judge.records.quantum_chess import log as qchess_log
from judge.records.quantum_chess import replay as qchess_replay
from judge.records.replay import five_of
from judge.records.stratego import replay as stratego_replay
from judge.referee.spec import RecordFile

Writer = Callable[[RecordFile], bytes]


def _psq(file: RecordFile) -> bytes:
    return write_psq(five_of(file))


def _stratego_log(file: RecordFile) -> bytes:
    return stratego_replay.log_of(file.record)


def _qchess_log(file: RecordFile) -> bytes:
    return qchess_log.write_log(qchess_replay.log_of(file.record))


WRITERS: Mapping[str, Mapping[str, Writer]] = {
    "gomoku": {".psq": _psq},
    "stratego": {".log": _stratego_log},
    "quantum-chess": {".log": _qchess_log},
}
"""For each game, what writes the file of an ending."""


def write_exports(file: RecordFile, path: Path) -> None:
    """Write the files that this game's field reads, next to the record file `path`; raises OSError."""
    for ending, writer in WRITERS.get(file.record.spec.policy.game.name, {}).items():
        write_durably(path.with_suffix(ending), writer(file))
