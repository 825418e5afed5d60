"""Directories of records: what is read, refused, and warned about; and the lists of `judge rating-list`."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judge_gomocup.league_records import MAX_RECORD_LINES, LeagueRecords
from judge_gomocup.rating_lists import rating_list
from typer.testing import CliRunner, Result

from judge.base.errors import InputError
from judge.cli import app
from tests.publish.cups import Cup
from tests.publish.public import Public
from tests.site.browser import Browser
from tests.statistics.cup_records import CARO_2026, data
from tests.statistics.cup_records import rows as csv_rows

TABLES = {
    "nickname": "line,name,family,version\n1,LAVENDER,LAVENDER,2023\n2,ALPHAGOMOKU.MK26,ALPHAGOMOKUMK,2026\n",
    "displayname": "version,shown\nJAX 2025,JAX 2025\nEMBRYO 2026,Embryo\nKATAGOMO 2026,KATAGOMO 2026\n"
    "SQUIRREL 2024,SQUIRREL 2024\nPELA 2023,PELA 2023\n",
    "blacklist": "name,league\n",
    "benchmark": "order,version,elo\n1,PELA 2023,1200\n",
    "rules": "id,suffixes,min_games,extra_bias\ncaro,c,20,0\nall,c f,100,0\n",
}


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A directory with one league."""
    for folder in ("records", "names"):
        (tmp_path / folder).mkdir()
    for name, text in TABLES.items():
        (tmp_path / "names" / f"{name}.csv").write_text(text)
    write(tmp_path, CARO_2026)
    return tmp_path


def write(directory: Path, text: str | bytes, league: str = "2026_c") -> None:
    encoded = text if isinstance(text, bytes) else text.encode()
    (directory / "records" / f"{league}.txt").write_bytes(encoded)


def stats(directory: Path, *words: object) -> Result:
    return CliRunner().invoke(
        app, ["rating-list", str(directory), *map(str, words)], catch_exceptions=False, env={"COLUMNS": "160"}
    )


def document(directory: Path, *words: object) -> Any:
    done = stats(directory, *words, "--json")
    assert 0 == done.exit_code, done.output
    return json.loads(done.stdout)


def changed(number: int, line: str) -> str:
    """The league with another line `number`, from 1; an empty one removes it."""
    lines = CARO_2026.splitlines()
    lines[number - 1 : number] = [line] if line else []
    return "\n".join(lines)


# --- lists -----------------------------------------------------------------------------------------------------------


def test_list_of_a_league_is_anchored_and_has_all_columns(records: Path) -> None:
    found = document(records, "all")

    assert ("all", []) == (found["list"], found["warnings"])
    assert [2294, 2213, 2136, 1702, 1531, 1502, 1200] == [row["elo"] for row in found["rows"]]
    assert {
        "version": "EMBRYO 2026",
        "shown": "Embryo",
        "rank": 3,
        "elo": 2136,
        "plus": 69,
        "minus": 70,
        "games": 144,
        "score": 75,
        "opponents": 1740,
        "draws": 12,
        "active": True,
        "first_year": 2026,
        "last_year": 2026,
    } == found["rows"][2]


def test_table_and_csv_have_the_rows_of_json(records: Path, tmp_path: Path) -> None:
    target = tmp_path / "list.csv"
    shown = stats(records, "all", "--csv", target).stdout.splitlines()

    rows = document(records, "all")["rows"]
    assert [{**row, "active": 1} for row in rows] == [
        {key: int(value) if value.isdigit() else value for key, value in row.items()} for row in csv_rows(target)
    ]
    assert "Embryo" in shown[3]
    assert ["3", "Embryo", "2136", "69", "70", "144", "75", "%", "1740", "12", "%"] == shown[3].split()
    with pytest.raises(InputError, match=r"list\.csv: exists; --force overwrites it"):
        stats(records, "all", "--csv", target)
    assert 0 == stats(records, "all", "--csv", target, "--force").exit_code


# A version that lost its family's rank, and a family that played long ago.
OLD = "EMBRYO23 - PELA23: 10 : 14\nEMBRYO23 - OLDEST20: 12 : 12\nOLDEST20 - PELA23: 3 : 21\n"


@pytest.fixture
def page(records: Path, tmp_path: Path) -> Path:
    write(records, OLD, league="2020_c")
    target = tmp_path / "list.html"
    assert 0 == stats(records, "caro", "--page", target).exit_code
    with pytest.raises(InputError, match=r"list\.html: exists; --force overwrites it"):
        stats(records, "caro", "--page", target)
    return target


def cells(browser: Browser, number: int) -> list[list[str]]:
    """The table `number` of a page, from 0."""
    found = browser.ask(
        f"[...document.querySelectorAll('table')[{number}].rows].map(r => [...r.cells].map(c => c.textContent.trim()))"
    )
    assert isinstance(found, list)
    return found


def test_page_has_the_rows_of_json(browser: Browser, page: Path, records: Path) -> None:
    rows = document(records, "caro")["rows"]
    browser.open(page)

    heads, *ranked = cells(browser, 0)
    _, *others = cells(browser, 1)
    assert "Rank,Version,Elo,+,-,Games,Score, %,Opponents,Draws, %,Activity,From,To,Folded versions" == ",".join(heads)
    keys = ("rank", "shown", "elo", "plus", "minus", "games", "score", "opponents", "draws", "active")
    years = ("first_year", "last_year")
    texts = [
        [
            *(str(row[key]) for key in keys[:-1]),
            "active" if row["active"] else "not active",
            *(str(row[y]) for y in years),
        ]
        for row in rows
    ]
    assert [line for line in texts if line[0] != "None"] == [line[:-1] for line in ranked]
    assert [line[1:] for line in texts if line[0] == "None"] == [line[:-1] for line in others]
    assert {"Embryo": "1 EMBRYO 2023"} == {line[1]: line[-1] for line in ranked if line[-1]}
    assert {"EMBRYO 2023": "folded into Embryo"} == {line[0]: line[-1] for line in others}


def test_page_is_one_file_that_sorts_and_needs_no_script(browser: Browser, page: Path) -> None:
    browser.leave()
    browser.requests.clear()
    browser.open(page)
    assert [] == browser.errors
    assert {page.as_uri()} == {url for url in browser.requests if not url.startswith(("data:", "about:"))}
    before = [line[5] for line in cells(browser, 0)[1:]]
    browser.ask("document.querySelectorAll('button.sort')[5].click()")
    assert sorted(before, key=int) == [line[5] for line in cells(browser, 0)[1:]]
    browser.block_scripts(True)
    try:
        browser.open(page)
        assert before == [line[5] for line in cells(browser, 0)[1:]]
    finally:
        browser.block_scripts(False)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_page_fits_and_axe_finds_nothing_wrong(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.set_view(width, dark)
    browser.open(page)
    assert [] == browser.violations()
    assert browser.ask("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    ("name", "versions", "ranked"),
    [
        *[("caro", 14, 7), ("fastgame", 189, 69), ("freestyle15", 51, 43), ("freestyle20", 214, 71)],
        *[("global_reference", 228, 81), ("renju", 48, 17), ("standard", 76, 24)],
    ],
)
def test_published_lists_are_equal_in_every_cell(name: str, versions: int, ranked: int) -> None:
    """Gomocup's lists of June 2026; of a list without a table only the numbers of versions and ranks."""
    columns = {"score": "score_percent", "draws": "draws_percent"}
    found = document(data(), name)

    assert (versions, ranked) == (len(found["rows"]), sum(row["rank"] is not None for row in found["rows"]))
    if not (data() / "tables" / f"{name}.csv").exists():
        return
    published = csv_rows(data() / "tables" / f"{name}.csv")
    assert len(published) == len(found["rows"])
    for expected, row in zip(published, found["rows"], strict=True):
        texts = {
            key: "" if value is None else str(value) for key, value in row.items() if key in expected or key in columns
        }
        assert {key: expected[columns.get(key, key)] for key in texts} == texts
    (one, other) = (warning for warning in found["warnings"] if "wrong opponents" in warning)
    assert "records/2024_2.txt, after line 1: 38 pairs are missing" in one
    assert "records/2026_f.txt, after line 891: 33 pairs are missing" in other
    assert 4 == len(found["warnings"])


def test_contest_and_its_export_join_the_records(records: Path, cup: Cup, exported: Public) -> None:
    """Its agents are new versions; the best of them is as good as in the contest."""
    (records / "names/nickname.csv").write_text("name,family,version\nANNA,JAX,2027\n")
    before = document(records, "all")["rows"]
    found = document(records, "all", "--add", f"2027_f={cup.folder}")

    assert found == {
        **document(records, "all", "--add", f"2027_f={exported.directory}"),
        "warnings": found["warnings"],
    }
    versions = {row["version"] for row in found["rows"]} - {row["version"] for row in before}
    assert {"JAX 2027", "BERT", "-CARL", "DORA"} <= versions
    anna = next(row for row in found["rows"] if row["version"] == "JAX 2027")
    assert (2027, 2027, True) == (anna["first_year"], anna["last_year"], anna["active"])
    line = next(line for line in cup.contest.read().table.lines if line.agent == "anna")
    assert (line.done.games, round(100 * line.done.score / line.done.games)) == (anna["games"], anna["score"])
    assert "unknown name BERT; add it to names/nickname.csv or names/displayname.csv" in "".join(found["warnings"])


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("2027_c", "--add 2027_c: write YEAR_LEAGUE=CONTEST, such as 2027_c=cup"),
        ("2027_x={cup}", "the leagues are c, f"),
        ("c={cup}", "write YEAR_LEAGUE=CONTEST"),
        ("2026_c={cup}", "there is already a record of this year and league; choose another one"),
    ],
)
def test_contest_that_cannot_be_a_record_is_refused(word: str, problem: str, records: Path, cup: Cup) -> None:
    with pytest.raises(InputError, match=problem):
        stats(records, "all", "--add", word.format(cup=cup.folder))


# --- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (changed(3, "JAX25 - ALPHAGOMOKU.MK26: 1 : 7"), "line 3: JAX25 - ALPHAGOMOKU.MK26 is also in line 1; remove"),
        (changed(3, "JAX25 - jax25: 1 : 7"), "line 3: JAX25 against itself"),
        (changed(3, "ALPHAGOMOKU.MK26 - KATAGOMO26: 24 : -1"), "line 3: -1 wins; write 0 or more"),
        (changed(3, "ALPHAGOMOKU.MK26 - KATAGOMO26: 24 : x"), "line 3: 'ALPHAGOMOKU.MK26 - .*' is not a result; write"),
        (changed(3, "ALPHAGOMOKU.MK26 - KATAGOMO26: 24 : 0.5"), "line 3: .* is not a result"),
        (changed(3, "ALPHAGOMOKU.MK26 - KATAGOMO26: 24 : 1000000000"), "line 3: .* is not a result"),
        (changed(3, "ALPHAGOMOKU.MK26-KATAGOMO26: 24 : 0"), "line 3: .* is not a result"),
        (changed(3, "ALPHAGOMOKU.MK26\t-\tKATAGOMO26:\t24 : 0"), "line 3: it has a tab; write"),
        (changed(3, "ALPHAGOMOKU.MK26 - KATAGOMO26: 24 : 1"), "line 3: 25 games, and a pairing seems to have 24; corr"),
        (changed(3, "ALPHA\x1b - KATAGOMO26: 24 : 0"), r"line 3: the name 'ALPHA\\x1b'; write at most 60 printable"),
        (changed(3, f"{'A' * 61} - KATAGOMO26: 24 : 0"), "line 3: the name 'AAA.*; write at most 60"),
        (b"\xef\xbb\xbf" + CARO_2026.encode(), "line 1: it begins with a byte order mark; save it as UTF-8 without"),
        (CARO_2026.replace("JAX", "J\xc4X").encode("latin-1"), "not UTF-8 text in line 1: save it as UTF-8"),
        (CARO_2026.encode("utf-16"), "it is UTF-16 text: save it as UTF-8"),
        ("\n\n", "it has no results"),
        ("\n".join(f"A{n} - B: 1 : 0" for n in range(9000)), "line 300: a record has at most 300 names"),
        ("\n" * MAX_RECORD_LINES + CARO_2026, f"line {MAX_RECORD_LINES + 1}: a record has at most {MAX_RECORD_LINES}"),
        (CARO_2026 * 10_000, f"line [0-9]+: a record has at most {MAX_RECORD_LINES} lines"),
    ],
)  # fmt: skip
def test_invalid_record_is_refused_with_file_and_line(text: str | bytes, problem: str, records: Path) -> None:
    write(records, text)

    with pytest.raises(InputError, match=rf"records/2026_c\.txt(, |: ){problem}"):
        LeagueRecords(records)


def test_nothing_is_written_after_an_error(records: Path, tmp_path: Path) -> None:
    write(records, changed(3, "A - B: 1 : -1"))
    with pytest.raises(InputError, match="line 3: -1 wins"):
        stats(records, "caro", "--csv", tmp_path / "list.csv")

    assert not (tmp_path / "list.csv").exists()


@pytest.mark.parametrize(
    ("table", "text", "problem"),
    [
        ("nickname", "name,family\nA,B\n", "line 1: no column 'version'; its columns are name, family, version"),
        ("nickname", "name,family,version\nA,B\n", "line 2: it has not as many cells as the first line"),
        ("nickname", "name,family,version\nA,B,1,2\n", "line 2: it has not as many cells as the first line"),
        ("nickname", 'name,family,version\n"A,B,1\n', "line 2: unexpected end of data"),
        ("nickname", "", "line 1: no column 'name'"),
        ("displayname", "version,shown\nA,\x1b\n", "line 2: shown is '\\\\x1b'; write at most 60 printable characters"),
        ("benchmark", "version,elo\nA,many\n", "line 2: elo is 'many'; write an integer of at most six digits"),
        ("rules", "id,suffixes,min_games,extra_bias\na,c,-1,0\n", "line 2: min_games is -1; give 0 or more"),
        ("rules", "id,suffixes,min_games,extra_bias\na,c,1,0\na,c,1,0\n", "line 3: the list a is there twice"),
        ("rules", "id,suffixes,min_games,extra_bias\n", "it has no list"),
    ],
)
def test_invalid_table_of_names_is_refused(table: str, text: str, problem: str, records: Path) -> None:
    (records / "names" / f"{table}.csv").write_text(text)

    with pytest.raises(InputError, match=rf"names/{table}\.csv(, |: ){problem}"):
        LeagueRecords(records)


def test_missing_and_special_files_are_refused(records: Path, tmp_path: Path) -> None:
    (records / "names/benchmark.csv").rename(tmp_path / "benchmark.csv")
    with pytest.raises(InputError, match=r"benchmark\.csv: No such file or directory; give a directory with records/"):
        LeagueRecords(records)
    (tmp_path / "benchmark.csv").rename(records / "names/benchmark.csv")
    os.mkfifo(records / "records/2025_c.txt")
    with pytest.raises(InputError, match=r"2025_c\.txt: a directory or a special file"):
        LeagueRecords(records)
    (records / "records/2025_c.txt").unlink()
    (records / "records/2026_c.txt").unlink()
    with pytest.raises(InputError, match="records: it has no record"):
        LeagueRecords(records)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("caros",), "caros: no such list in names/rules.csv; choose among caro, all"),
        (("caro", "--add", "cup"), "--add cup: write YEAR_LEAGUE=CONTEST"),
    ],
)
def test_wrong_words_are_refused(words: tuple[str, ...], problem: str, records: Path) -> None:
    with pytest.raises(InputError, match=problem):
        stats(records, *words)


def test_list_without_games_is_refused(records: Path) -> None:
    rules = records / "names/rules.csv"
    rules.write_text(rules.read_text().replace("caro,c", "caro,x"))

    with pytest.raises(InputError, match="the list caro has no games; add records of its leagues"):
        stats(records, "caro")


@given(drawn=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_bytes_are_read_or_refused(records: Path, drawn: st.DataObject) -> None:
    """Bytes are put into a record and into a table at any place."""
    at = drawn.draw(st.integers(0, len(CARO_2026)))
    added = drawn.draw(st.binary(max_size=8) | st.sampled_from([b"\n", b"\r", b"\t", b" - ", b": 1 : 2\n", b'"', b","]))
    write(records, CARO_2026[:at].encode() + added + CARO_2026[at:].encode())
    table = TABLES["rules"].encode()
    at = drawn.draw(st.integers(0, len(table)))
    (records / "names/rules.csv").write_bytes(table[:at] + drawn.draw(st.binary(max_size=3)) + table[at:])

    with suppress(InputError):
        read = LeagueRecords(records)
        for rule in read.names.rules:
            rating_list(read.records, read.names, rule)


# --- warnings --------------------------------------------------------------------------------------------------------


def without_diagonal(distance: int) -> str:
    """The league without the pairs of each name and the one `distance` places after it."""
    names = [*dict.fromkeys(line.split(" ")[0] for line in CARO_2026.splitlines()), "PELA23"]
    missing = [f"{name} - {names[at + distance]}:" for at, name in enumerate(names[:-distance])]
    return "".join(line + "\n" for line in CARO_2026.splitlines() if not line.startswith(tuple(missing)))


def test_missing_diagonal_is_warned_about(records: Path) -> None:
    write(records, without_diagonal(2))

    (warning,) = LeagueRecords(records).warnings
    assert warning.endswith(
        "records/2026_c.txt, after line 1: 5 pairs are missing, each of a name and the second after it, such as "
        "ALPHAGOMOKU.MK26 - EMBRYO26; results are probably 2 columns off, next to wrong opponents"
    )
    assert f"judge: WARNING: {warning}\n" == stats(records, "caro").stderr


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (changed(9, ""), "after line 8: no line for JAX25 - LAVENDER; write 0 : 0 for a pair that did not meet"),
        (
            CARO_2026 + "PELA23 - JAX26: 1 : 2\n",
            "after line 6: no line for ALPHAGOMOKU.MK26 - JAX26, JAX25 - JAX26, EMBRYO26 - JAX26 and 3 more; write",
        ),
        (CARO_2026.replace("JAX25", "JXA25"), "line 1: unknown name JXA25; correct it, or add it to names/nickname"),
        (
            "PELA23 - JAX25: 10 : 8\nPELA23 - EMBRYO26: 7 : 7\nJAX25 - EMBRYO26: 5 : 9\nPELA23 - SQUIRREL24: 6 : 6\n",
            "line 1: 18 games, and a pairing seems to have 14",
        ),
    ],
)
def test_doubtful_record_is_warned_about(text: str, warning: str, records: Path) -> None:
    write(records, text)

    assert f"{records}/records/2026_c.txt, {warning}" in "\n".join(LeagueRecords(records).warnings)


def test_other_files_leagues_and_disqualified_names_are_warned_about(records: Path) -> None:
    write(records, "PELA23 - JAX25: 1 : 1", league="2026_x")
    (records / "records/notes.md").write_text("notes")
    (records / "records/.hidden").write_text("notes")
    (records / "names/blacklist.csv").write_text("name,league\nPELA23,2026_c\nCRASH,2026_c\nPELA23,2025_c\n")

    found = [warning.removeprefix(f"{records}/") for warning in LeagueRecords(records).warnings]
    assert [
        "records/2026_x.txt: no list of names/rules.csv has the league 'x'",
        "records/notes.md: not read; the name of a record is YEAR_LEAGUE.txt, such as 2026_c.txt",
        "names/blacklist.csv, line 3: CRASH is not in records/2026_c.txt, which may lack a disqualified program",
        "names/blacklist.csv, line 4: PELA23 is not in records/2025_c.txt, which may lack a disqualified program",
    ] == found


@pytest.mark.parametrize(
    "text",
    [
        CARO_2026.replace("\n", "\r\n"),
        CARO_2026.lower(),
        CARO_2026.removesuffix("\n"),
        CARO_2026.replace("\n", "  \n\n"),
    ],
)
def test_other_line_ends_letter_cases_and_empty_lines_are_read(text: str, records: Path) -> None:
    before = document(records, "caro")
    write(records, text)

    assert before == document(records, "caro")
