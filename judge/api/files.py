"""Verify and read files of games."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.base.text import printable
from judge.catalog.files import is_record, read_bytes, read_steps, replayed_log
from judge.formats.steps import Stepped
from judge.record.spec import outcome_text, parse_record
from judge.referee.verify import verify as verified_record

_EVALUATION = re.compile(rb'\s*\{\s*"format":\s*"judge-evaluation-')
"""The beginning of a signed evaluation."""


@dataclass(frozen=True, slots=True)
class VerifiedFile:
    """What a verification found: problems, or without them a summary."""

    problems: Sequence[str]
    summary: str

    @property
    def is_valid(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def verify(path: Path) -> VerifiedFile:
    """Replay a record, a log of the UCC contests or the games of an evaluation. Raises InputError if it is unreadable.

    A record is replayed by the rules, its verdict is derived from its evidence, and its hash chain is computed.
    """
    data = read_bytes(path)
    if _EVALUATION.match(data[:100]):
        from judge.publish.export.evaluation_file import verify_evaluation

        problems, summary = verify_evaluation(path)
        return VerifiedFile(problems, printable(summary, 400))
    if not is_record(data):
        return VerifiedFile((), replayed_log(data, path))
    verified = verified_record(parse_record(data, path))
    record = verified.record
    winner = (
        "" if record.winner is None else f", {printable(outcome_text(record.verdict, record.winner, record.names))}"
    )
    digest = record.transcript_sha256[:16]
    summary = f"{record.verdict}{winner}, {len(record.plies)} moves, transcript {digest}"
    return VerifiedFile(tuple(verified.problems), summary)


def show(path: Path) -> Stepped:
    """Return the positions of a finished game: a record, a .psq, .rec, .sgf or .pgn file, or a log of the UCC contests.

    `Stepped.problem` has the error up to which a damaged file could be read. Raises InputError if it is unreadable.
    """
    return read_steps(path)
