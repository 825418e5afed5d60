"""Output of commands: notes, errors and log lines on stderr, JSON and findings on stdout."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, NoReturn

from judge.base.text import printable

if TYPE_CHECKING:
    from judge.submissions.check import Finding

LOG_CHARACTERS = 2000
SENTENCE_CHARACTERS = 600


def safe_event(_logger: Any, _level: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Processor for structlog: puts each text on one line without control characters."""
    return {key: printable(value, LOG_CHARACTERS) if isinstance(value, str) else value for key, value in event.items()}


def note(text: str) -> None:
    """Print a line on stderr."""
    print(text, file=sys.stderr, flush=True)


def print_notice(text: str) -> None:
    """Print a line about the host on stderr: images that are built, or the process that this one waits for."""
    note(f"judge: {printable(text, 400)}")


def fail(text: str, code: int) -> NoReturn:
    """Print an error and exit."""
    note(f"judge: {text}")
    raise SystemExit(code)


def print_json(document: object) -> None:
    """Print a document for other programs."""
    print(json.dumps(document, indent=2))


def finding_lines(findings: "Iterable[Finding]") -> Iterator[str]:
    """The findings of a check, each followed by its fix."""
    for finding in findings:
        evidence = printable(finding.evidence, SENTENCE_CHARACTERS)
        yield f"{finding.grade.value:<7} {finding.check}: {finding.tried}: {evidence}"
        if finding.fix:
            yield f"        fix: {printable(finding.fix, SENTENCE_CHARACTERS)}"


def stderr_lines(finding: "Finding") -> Iterator[str]:
    """The agent's last stderr lines, with a heading."""
    if finding.stderr:
        yield "        last lines on stderr:"
        yield from (f"        {printable(line, SENTENCE_CHARACTERS)}" for line in finding.stderr)


def interval(value: float | None, low: float | None, high: float | None, decimals: int = 0) -> str:
    """A value with its interval; undetermined numbers are `…`."""
    # Adding 0.0 turns a negative zero into zero.
    rounded = (None if each is None else round(each, decimals) + 0.0 for each in (value, low, high))
    middle, below, above = ("…" if each is None else f"{each:+.{decimals}f}" for each in rounded)
    return f"{middle} ({below} to {above})"
