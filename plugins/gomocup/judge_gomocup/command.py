"""`judge rating-list`: rates the results of many leagues and years."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.cli.options import ForceOption, JsonOption
from judge.publish.tables import write_csv
from judge.terminal.output import make_table, note, print_json, print_table
from judge_gomocup.page import rating_list_page
from judge_gomocup.rating_lists import ListRow
from judge_gomocup.ratings import ratings

EXAMPLES = """
Examples:

judge rating-list gomocup-results standard --csv standard.csv

judge rating-list gomocup-results caro --add 2027_c=cup-caro --page caro.html
"""

_COLUMNS = (
    "version", "shown", "rank", "elo", "plus", "minus", "games", "score", "opponents", "draws", "active", "first_year",
    "last_year",
)  # fmt: skip


def rating_list(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Rate the results in DIR/records with the tables in DIR/names.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The list of DIR/names/rules.csv to print.")],
    add: Annotated[
        list[str] | None,
        typer.Option(metavar="YEAR_LEAGUE=CONTEST", help="Add a contest or an export to the records. Repeatable."),
    ] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Also write the list to FILE as CSV.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the list to FILE as an HTML page.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print a rating list of many years.

    The results are in records of leagues, the tables of names and lists in CSV files. The README of judge-gomocup
    describes both. The tables of an export are not verified: run judge contest verify first.
    """
    for target in (csv_file, page):
        if target is not None and target.exists() and not force:
            raise InputError(f"{target}: exists; --force overwrites it")
    pairs = []
    for word in add or []:
        league, equals, contest = word.partition("=")
        if not equals:
            raise InputError(f"--add {printable(word, 60)}: write YEAR_LEAGUE=CONTEST, such as 2027_c=cup")
        pairs.append((league, Path(contest)))
    found = ratings(directory, name, added=pairs)
    for warning in found.warnings:
        note(f"judge: WARNING: {printable(warning, 500)}")
    documents = [_list_document(row) for row in found.rows]
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


def _list_document(row: ListRow) -> dict[str, Any]:
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
    print_table(table)
