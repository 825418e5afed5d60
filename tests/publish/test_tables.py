"""The tables: their columns are documented, and no text is a formula."""

import csv
import io
import json

import pytest

from judge.publish.tables import CRITERION, TABLES, cell_text, write_csv
from tests.formats.recorded import HOSTILE
from tests.publish.public import Public

NAMES = [name for name in TABLES if name not in ("crosstable", "histories", "withdrawn", "entered")]


@pytest.mark.parametrize("name", NAMES)
def test_every_column_is_documented_in_both_formats(exported: Public, name: str) -> None:
    check_columns(exported, name)


def check_columns(exported: Public, name: str) -> None:
    documented = [column for column in TABLES[name] if column != CRITERION]
    text = (exported.directory / f"data/{name}.csv").read_bytes().decode()
    heads, *rows = csv.reader(io.StringIO(text, newline=""))
    document = json.loads((exported.directory / f"data/{name}.json").read_bytes())

    assert documented == [head for head in heads if not head.startswith("compared:")]
    assert len(rows) == len(document)
    for row in document:
        assert heads == list(row)
    readme = (exported.directory / "data/README.md").read_text()
    assert f"## {name}" in readme
    for column in TABLES[name]:
        assert f"| `{column}` |" in readme


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-carl", "'-carl"),
        ("@x", "'@x"),
        ("  =x", "'  =x"),
        ("\t=x", "' =x"),
        ("\r\n=x", "'  =x"),
        ("\N{FULLWIDTH EQUALS SIGN}x", "'\N{FULLWIDTH EQUALS SIGN}x"),
        ("a=b", "a=b"),
        (-1.5, "-1.5"),
        (2.0, "2"),
        (None, ""),
        (HOSTILE, '<b>&"evil"\ufffd]0;x\ufffd\ufffd]]>'),
        ("x" * 20_000, "x" * 9_999 + "…"),
    ],
)
def test_no_text_is_a_formula_or_obeyed_by_a_terminal(value: object, text: str) -> None:
    assert text == cell_text(value)


def test_a_cell_may_have_everything_that_csv_means_something_by() -> None:
    data = write_csv(["a,b", 'c"d'], [{"a,b": 'x"y', 'c"d': "z,\n;"}])

    assert [["a,b", 'c"d'], ['x"y', "z, ;"]] == list(csv.reader(io.StringIO(data.decode())))
