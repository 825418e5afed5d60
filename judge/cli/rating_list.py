"""`judge stats --records`: rating lists from the records of many years."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from judge.api.rating_lists import ratings
from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.publish.tables import write_csv
from judge.site.rating_list_page import rating_list_page
from judge.statistics.rating_lists import ListRow
from judge.terminal.output import make_table, note, print_json

_COLUMNS = (
    "version", "shown", "rank", "elo", "plus", "minus", "games", "score", "opponents", "draws", "active", "first_year",
    "last_year",
)  # fmt: skip


def print_rating_list(
    directory: Path,
    name: str,
    added: Iterable[str],
    csv_file: Path | None,
    page: Path | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Print the list `name`, and write it to `csv_file` and `page`. `added` are contests, LEAGUE=CONTEST."""
    for target in (csv_file, page):
        if target is not None and target.exists() and not force:
            raise InputError(f"{target}: exists; --force overwrites it")
    pairs = []
    for word in added:
        league, equals, contest = word.partition("=")
        if not equals:
            raise InputError(f"--add {printable(word, 60)}: write YEAR_LEAGUE=CONTEST, such as 2027_c=cup")
        pairs.append((league, Path(contest)))
    found = ratings(directory, name, added=pairs)
    for warning in found.warnings:
        note(f"judge: WARNING: {printable(warning, 500)}")
    documents = [_document(row) for row in found.rows]
    if csv_file is not None:
        table = write_csv(_COLUMNS, ({**row, "active": int(row["active"])} for row in documents))
        _write(csv_file, table, force=force)
    if page is not None:
        _write(page, rating_list_page(name, found.rows), force=force)
    if as_json:
        print_json({"list": name, "warnings": found.warnings, "rows": documents})
    else:
        _show(found.rows)


def _write(path: Path, data: bytes, *, force: bool) -> None:
    try:
        with path.open("wb" if force else "xb") as file:
            file.write(data)
    except OSError as error:
        raise HostError(f"{path}: not written: {error.strerror}") from None


def _document(row: ListRow) -> dict[str, Any]:
    values = (
        row.version, row.shown, row.rank, row.elo, row.plus, row.minus, row.games, row.score, row.opponents, row.draws,
        row.is_active, row.first_year, row.last_year,
    )  # fmt: skip
    return dict(zip(_COLUMNS, values, strict=True))


def _show(rows: Sequence[ListRow]) -> None:
    columns = ("rank", "version", "Elo", "+", "-", "games", "score", "opponents", "draws")
    table = make_table(columns, numbers=(0, *range(2, len(columns))))
    for row in rows:
        table.add_row(
            "" if row.rank is None else str(row.rank),
            Text(printable(row.shown, 32), style="dim" if row.rank is None else ""),
            *map(str, (row.elo, row.plus, row.minus, row.games)),
            f"{row.score} %",
            str(row.opponents),
            f"{row.draws} %",
        )
    Console(highlight=False).print(table)
