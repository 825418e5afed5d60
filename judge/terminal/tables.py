"""Style of tables that commands print."""

from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.table import Table


def make_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[RenderableType]] = (),
    *,
    numbers: Iterable[int] = (),
) -> Table:
    """A table without a frame; columns `numbers`, from 0, are right-aligned."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    right = set(numbers)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number in right else "left")
    for row in rows:
        table.add_row(*row)
    return table
