"""The rating list of one contest: a page of its export that verifiers compute again."""

import re
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from judge_gomocup.page import contest_page
from typer.testing import CliRunner

from judge.base import registry
from judge.cli import app
from judge.contest.earlier_contests import read_contest
from judge.publish.verify.export import verify_export
from judge.tournament.standings import records_of
from judge.transparency.keys import make_key
from tests.publish.cups import Cup
from tests.publish.public import Public, sign_again


@pytest.fixture
def with_list(cup: Cup, tmp_path: Path) -> Public:
    """An export with the page."""
    key = make_key(tmp_path / "organiser.key")
    words = ["contest", "export", tmp_path / "public", cup.folder, "--key", tmp_path / "organiser.key"]
    options = ["--private", tmp_path / "private", "--language", "en", "--page", "rating-list"]
    done = CliRunner().invoke(app, [*map(str, words), *map(str, options)], catch_exceptions=False)
    assert 0 == done.exit_code, done.output
    return Public(tmp_path, key)


def test_page_has_the_ratings_of_the_criterion(cup: Cup) -> None:
    contest = cup.contest.read()
    agents = [entry.name for entry in contest.snapshot.entries]
    ratings = records_of(agents, contest.tournament.played(contest.pairings, contest.counted)).ratings
    page = contest_page(contest).decode()

    rows = re.findall(r'<th scope="row"><bdi>([^<]+)</bdi></th><td class="num strong">([0-9]+)</td>', page)
    best = sorted(agents, key=lambda agent: -ratings[agent])
    assert [(agent, str(round(ratings[agent]))) for agent in best] == rows


def test_export_with_the_page_is_verified(with_list: Public) -> None:
    contest = read_contest(with_list.directory)

    assert [] == verify_export(with_list.directory, with_list.public_key).problems
    assert contest_page(contest) == (with_list.directory / "pages/rating-list.html").read_bytes()


def test_forged_rating_is_a_problem(with_list: Public) -> None:
    page = with_list.directory / "pages/rating-list.html"
    page.write_text(re.sub(r'strong">[0-9]+<', 'strong">9999<', page.read_text(), count=1))
    sign_again(with_list)

    assert ["pages/rating-list.html: not the page that follows from the results"] == list(
        verify_export(with_list.directory, with_list.public_key).problems
    )


def test_verifier_without_this_package_names_it(with_list: Public, monkeypatch: pytest.MonkeyPatch) -> None:
    found = metadata.entry_points()
    entry_points = SimpleNamespace(
        select=lambda group: (
            [point for point in found.select(group=group) if "gomocup" not in point.module]
            if group == "judge.pages"
            else found.select(group=group)
        )
    )
    with monkeypatch.context() as patch:
        patch.setattr(metadata, "entry_points", lambda: entry_points)
        registry.forget()
        problems = list(verify_export(with_list.directory, with_list.public_key).problems)
    registry.forget()

    assert 1 == len(problems)
    assert "the page 'rating-list' is missing: install judge-gomocup" in problems[0]
