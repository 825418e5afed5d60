"""What the first landing wrote is read by every judge since: see README.md in this folder."""

import lzma
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import MetaData, create_engine, insert, select
from typer.testing import CliRunner

from judge.cli import app
from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.matches import MatchState
from judge.referee.spec import read_record
from judge.referee.verify import verify
from judge.store.connection import MIGRATIONS
from judge.store.contests import Store
from judge.verify.export import verify_export

THERE = Path(__file__).parent / "v0.1.0"
RECORDS = sorted(path.name.removesuffix(".json.xz") for path in (THERE / "records").iterdir())


OTHER_SWAP2 = {"replaced", "swap2-fallback-first", "swap2-fallback-second"}
"""In these an agent has no SWAP2BOARD, and the first judge took other lines for its answers."""


def unpack(name: str, folder: Path) -> Path:
    with tarfile.open(THERE / f"{name}.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    return folder / name


def record(name: str, folder: Path) -> Path:
    path = folder / f"{name}.json"
    path.write_bytes(lzma.decompress((THERE / "records" / f"{name}.json.xz").read_bytes()))
    return path


@contextmanager
def opened(folder: Path) -> Iterator[Contest]:
    planned = load_plan(folder)
    with closing(open_store(planned)) as store:
        yield Contest(store, planned)


def test_a_contest_that_is_over_has_its_table(tmp_path: Path) -> None:
    with opened(unpack("finished", tmp_path)) as contest:
        assert contest.is_over()
        assert {"house-python": 2.0, "scribe": 2.0, "second-python": 2.0} == {
            line.agent: line.points for line in contest.standing().table.lines
        }
        assert 6 == len(contest.results())
        for result in contest.results():
            assert result.reason == contest.record(result.record).record.reason


def as_the_first_judge_left_it(source: Path, url: str) -> None:
    """Bring the tables of the first judge, from a file of SQLite, into another database."""
    old, new = create_engine(f"sqlite:///{source}"), create_engine(url)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with old.connect() as before, new.begin() as after:
        config.attributes["connection"] = after
        command.upgrade(config, "0004")
        tables = MetaData()
        tables.reflect(before)
        for table in tables.sorted_tables:
            rows = [row._asdict() for row in before.execute(select(table))]
            if rows and table.name != "alembic_version":
                after.execute(insert(table), rows)
    old.dispose()
    new.dispose()


def test_every_database_is_migrated(tmp_path: Path, url: str) -> None:
    """SQLite and PostgreSQL: all that the first judge stored is there under the names of today."""
    folder = unpack("stopped", tmp_path)
    as_the_first_judge_left_it(folder / "contest.db", url)

    with closing(Store(url)) as there, opened(folder) as contest:
        assert contest.store.document("stopped") == there.document("stopped")
        for read in (Store.entries, Store.pairings, Store.matches, Store.results, Store.attempts, Store.journal):
            assert read(contest.store, "stopped") == read(there, "stopped")
        assert [(1, 1), (1, 2), (2, 1), (2, 2)] == [(each.round, each.table) for each in there.pairings("stopped")]
        assert 5 == len(there.results("stopped"))


def test_a_contest_whose_judge_was_killed_goes_on(tmp_path: Path) -> None:
    """The attempts that ran are rolled back, and the one whose result was taken back is played again."""
    with opened(unpack("stopped", tmp_path)) as contest:
        assert {MatchState.PENDING: 1, MatchState.RUNNING: 2, MatchState.DONE: 5} == {
            state: count for state, count in contest.store.counts("stopped").items() if count
        }
        assert 2 == contest.store.roll_back("stopped", "the judge that played it was stopped")

        issued = contest.store.issue("stopped", "here", contest.alone)

        assert issued is not None
        assert (2, 2) == (issued.number, issued.attempt)
        job = contest.job(issued)
        assert {"house-python", "stubborn"} == {issued.first, issued.second}
        assert job.states.keys()


def test_an_export_verifies(tmp_path: Path) -> None:
    key = unpack("finished", tmp_path) / "organiser.pem"

    report = verify_export(unpack("export", tmp_path), key)

    assert [] == report.problems
    assert 6 == report.replayed
    assert report.is_over


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_shown(name: str, tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["show", str(record(name, tmp_path))])

    assert 0 == found.exit_code, found.output


@pytest.mark.parametrize("name", sorted(set(RECORDS) - OTHER_SWAP2 - {"quantum-chess", "stratego", "void"}))
def test_a_record_of_five_in_a_row_is_converted(name: str, tmp_path: Path) -> None:
    sgf = tmp_path / "game.sgf"

    found = CliRunner().invoke(app, ["convert", "--to", "sgf", "-o", str(sgf), str(record(name, tmp_path))])

    assert 0 == found.exit_code, found.output
    assert sgf.read_text().startswith("(;")


@pytest.mark.parametrize("name", sorted(set(RECORDS) - OTHER_SWAP2))
def test_a_record_verifies(name: str, tmp_path: Path) -> None:
    assert [] == verify(read_record(record(name, tmp_path))).problems


@pytest.mark.parametrize("name", sorted(OTHER_SWAP2))
def test_a_record_that_only_the_first_judge_can_replay_says_so(name: str, tmp_path: Path) -> None:
    (problem,) = verify(read_record(record(name, tmp_path))).problems

    assert "judge 0.1.0 made this record" in problem
    assert "verify the record with judge 0.1.0 (commit 08c8ff3)" in problem


def test_a_record_of_the_first_judge_that_was_changed_is_found(tmp_path: Path) -> None:
    path = record("swap2", tmp_path)
    path.write_text(path.read_text().replace("house-strong", "house-wrong"))

    assert [] != list(verify(read_record(path)).problems)
