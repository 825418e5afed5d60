"""Figures of this run beside those of a former one: what became worse by more than the noise of their own runs.

A figure is worse if each of its runs is worse than each of the former one's. Where there is a limit the ratios to it
are compared, so that the two runs may be of different hosts.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from judge.base.errors import InputError
from judge.base.parsing import parse_json
from scripts.benchmarks.measuring import Figure

MAX_FILE_BYTES = 1 << 20
"""In bytes: of what a former run has printed."""


@dataclass(frozen=True, slots=True)
class Change:
    """A figure of both runs: its ratios where it has a limit, else its values."""

    name: str
    unit: str
    before: float
    now: float
    is_worse: bool
    is_better: bool


def read_figures(path: Path) -> Sequence[Figure]:
    """The figures that `--json` printed. Raises InputError that names the file and the field."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: give the output of --json of a former run") from None
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{path}: larger than {MAX_FILE_BYTES} bytes: give the output of --json of a former run")
    return parse_json(list[Figure], data, str(path))


def compare(before: Sequence[Figure], now: Sequence[Figure]) -> Iterator[Change]:
    """The figures that both have, measured several times in both and in the same unit."""
    former = {figure.name: figure for figure in before}
    for figure in now:
        other = former.get(figure.name)
        if other is None or not figure.runs or not other.runs:
            continue
        unit = figure.unit if figure.limit is None else "of the limit"
        if (figure.unit, figure.limit is None) != (other.unit, other.limit is None):
            continue
        # What is counted in a time is better if there is more of it; all else is time, memory or a share of something.
        grows = figure.unit.endswith(("/s", "/min"))
        lower, higher = max(figure.runs) < min(other.runs), min(figure.runs) > max(other.runs)
        values = (_compared(other), _compared(figure))
        yield Change(
            figure.name, unit, *values, is_worse=lower if grows else higher, is_better=higher if grows else lower
        )


def _compared(figure: Figure) -> float:
    return figure.value if figure.ratio is None else figure.ratio


def show_changes(changes: Sequence[Change]) -> None:
    """Print them to stderr, so that stdout stays JSON where it is."""
    table = Table("name", "before", "now", "unit", "change", "", title="against the former run")
    for each in changes:
        word = "worse" if each.is_worse else "better" if each.is_better else "within the noise"
        change = f"{100 * (each.now / each.before - 1):+.1f} %" if each.before else ""
        table.add_row(each.name, f"{each.before:.3g}", f"{each.now:.3g}", each.unit, change, word)
    Console(file=sys.stderr).print(table)
