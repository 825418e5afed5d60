"""Output of commands: notes, errors and progress on stderr; JSON, findings and tables on stdout.

rich is slow to import.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from judge.base.errors import InputError
from judge.base.progress import Item, Tracker, untracked
from judge.base.text import json_text, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from judge.submissions.check import Finding

SENTENCE_CHARACTERS = 600

SHOWN_AFTER_S = 2.0


def refuse_source(target: Path, sources: Iterable[Path]) -> None:
    """Raise InputError if a file to be written is one of those that it is made of."""
    if target.exists() and any(target.samefile(source) for source in sources):
        raise InputError(f"{target}: is a file that is read; choose another name")


_STYLES = {"bold": 1, "green": 32, "yellow": 33, "cyan": 36}


def styled(text: str, style: str) -> str:
    """A text in a style, if stdout is a terminal that shows colours."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown"):
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def is_interactive() -> bool:
    """Whether stdin and stdout are terminals."""
    return sys.stdin.isatty() and sys.stdout.isatty()


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


def print_json(document: object, *, indent: int | None = 2) -> None:
    """Print a document for other programs. Numbers that JSON does not have are null."""
    print(json_text(document, indent=indent))


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


def make_table(
    columns: Sequence[str], rows: "Iterable[Sequence[RenderableType]]" = (), *, numbers: Iterable[int] = ()
) -> "Table":
    """A table without a frame; columns `numbers`, from 0, are right-aligned."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    right = set(numbers)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number in right else "left")
    for row in rows:
        table.add_row(*row)
    return table


def width_of(console: "Console", table: "Table") -> int:
    """Characters that the whole table needs."""
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def print_table(table: "Table", console: "Console | None" = None) -> None:
    """Print a table on stdout: whole, or as wide as the terminal."""
    from rich.console import Console

    console = console or Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, width_of(console, table))
    console.print(table)


def progress_bar() -> Tracker:
    """A tracker that draws a bar on stderr, if it is a terminal."""
    return _draw_bar if sys.stderr.isatty() else untracked


def _draw_bar(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    # Slow to import.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total)
    began = time.monotonic()
    try:
        for item in items:
            yield item
            bar.advance(task)
            if not bar.live.is_started and time.monotonic() - began >= SHOWN_AFTER_S:
                bar.start()
    finally:
        bar.stop()
