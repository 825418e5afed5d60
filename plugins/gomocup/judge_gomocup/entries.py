"""What this package registers. Functions import what they need when they are called."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from judge.catalog.managers import (
    ContestComparison,
    ContestManager,
    FinishedContest,
    ImportedContest,
    PairScore,
)
from judge.cli.entry import CommandEntry
from judge.contest_view.view import ContestView
from judge.publish.pages import PageEntry


def _read(path: Path) -> ImportedContest:
    from judge_gomocup.tournament import read_tournament

    return read_tournament(path)


def _write(contest: FinishedContest) -> Iterator[tuple[str, bytes]]:
    from judge_gomocup.result_files import write_result_files

    return write_result_files(contest)


def _compare(directory: Path, contest: FinishedContest) -> ContestComparison:
    from judge_gomocup.compare import compare_played

    return compare_played(directory, contest)


def _pairs(path: Path) -> tuple[Sequence[PairScore], Sequence[str]]:
    from judge_gomocup.league_records import read_record

    return read_record(path)


def _page(contest: ContestView) -> bytes:
    from judge_gomocup.page import contest_page

    return contest_page(contest)


MANAGER = ContestManager(
    name="gomocup",
    about="GomocupJudge: a tournament file of its server, next to its directories opening and engine",
    read=_read,
    write=_write,
    rating={"advantage": 0.0, "draw_elo": 0.01, "mean": 1600.0},
    compare=_compare,
    pairs=_pairs,
)

COMMAND = CommandEntry("rating-list", "judge_gomocup.command:rating_list", "Print a rating list of many years.")

PAGE = PageEntry("rating-list", "Rating list", _page)
