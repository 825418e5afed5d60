"""Ratings that are joined with those of former contests: on the pages, in the table, and computed again."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.cli.contest.plan import plan as judge_plan
from judge.cli.contest.verify import verify
from judge.contest.earlier_contests import read_contest
from judge.contest_view.joined import JOINED
from judge.publish.before_export import export_problems, read_joined, with_joined
from judge.publish.export.export import PageOptions
from judge.publish.verify.export import verify_export
from judge.statistics.ratings import join_contests
from judge.web.live.pages import LivePages
from tests.contests import Recipe, nothing, steady_clock
from tests.publish.cups import Cast, Cup, player
from tests.publish.public import Public, change, sign_again
from tests.publish.test_tables import check_columns
from tests.site.browser import Browser
from tests.verify.second_opinion import second_opinion

LAST_YEAR: Cast = {"anna": player("anna", 0.5), "bert": player("bert", 0.6), "zoe": player("zoe", 0.9)}
THIS_YEAR: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.6), "carl": player("carl", 0.4)}
RATINGS = '[ratings]\nwith = ["../last-year"]\nanchors = { bert = 1600 }\n'


class NewAnna(Cup):
    """Whose Anna has other files than in other cups."""

    def store_files(self, name: str) -> str:
        return super().store_files("anna, the second" if name == "anna" else name)


@pytest.fixture(scope="module")
def this_year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    folder = tmp_path_factory.mktemp("years")
    with steady_clock(), Cup(folder / "last-year", LAST_YEAR, name="cup-2012", drawn=nothing) as last_year:
        last_year.play()
    with steady_clock():
        cup = NewAnna(folder / "this-year", THIS_YEAR, more=RATINGS, name="cup-2013", drawn=nothing)
        cup.play()
    with cup:
        yield cup


@pytest.fixture(scope="module")
def joined(this_year: Cup) -> Public:
    return this_year.export(this_year.folder.parent / "exported", pages=PageOptions())


@pytest.fixture
def joined_copy(joined: Public, tmp_path: Path) -> Public:
    return joined.copy_to(tmp_path)


def test_an_export_has_the_ratings_of_every_agent_in_each_contest(this_year: Cup, joined: Public) -> None:
    folders = [this_year.folder.parent / name for name in ("last-year", "this-year")]
    expected = join_contests([read_contest(folder).as_rated for folder in folders], {"bert": 1600}).histories

    rows = json.loads((joined.directory / "data/histories.json").read_bytes())
    assert [
        (name, version.contest, version.digest, 4, pytest.approx(version.rating.elo, abs=0.05), version.rating.pool)
        for name in ("anna", "bert", "carl", "zoe")
        for version in expected[name]
    ] == [tuple(row[key] for key in ("agent", "contest", "files", "games", "elo", "pool")) for row in rows]
    assert [1600, 1600] == [row["elo"] for row in rows if row["agent"] == "bert"]
    assert all(row["elo_low"] is None or row["elo_low"] < row["elo"] for row in rows)


def test_its_columns_are_documented_in_both_formats(joined: Public) -> None:
    check_columns(joined, "histories")


def test_the_page_of_an_agent_shows_its_history(joined: Public) -> None:
    for page, is_new in (("agents/001.html", True), ("agents/002.html", False)):
        text = (joined.directory / page).read_text()
        table, chart = text.partition("Rating history</h2>")[2].partition("</table>")[::2]
        rows = re.findall(r'<th scope="row"><bdi>(\S+)</bdi></th><td>2013-03-02</td>', table)
        assert ["cup-2012", "cup-2013"] == rows
        assert is_new == ("(new version)" in table)
        assert 2 == chart.partition("</figure>")[0].count('<circle class="dot"')
        assert "Fixed ratings that anchor the scale: <bdi>bert</bdi> 1600." in text
        assert all(f'aria-label="{name}: ' in chart for name in rows)
    # Carl came this year, and one contest is no history.
    assert "Rating history" not in (joined.directory / "agents/003.html").read_text()
    assert "Historie ratingu" in (joined.directory / "cs/agents/001.html").read_text()


def test_histories_are_recomputed_and_their_sources_named(joined: Public, capsys: pytest.CaptureFixture[str]) -> None:
    verify(joined.directory, joined.public_key)

    assert "joined   cup-2012: 6 games, not replayed here, taken from its unpublished store" in capsys.readouterr().out
    assert [] == second_opinion(joined.directory, joined.public_key)


def test_an_export_of_a_former_contest_is_named_by_its_manifest(this_year: Cup, tmp_path: Path) -> None:
    former = read_contest(this_year.folder.parent / "last-year")
    public = Recipe("last-year", LAST_YEAR, options={"name": "cup-2012"}).export(tmp_path / "published")
    report = verify_export(public.directory, public.public_key)
    plan = '[ratings]\nwith = ["../published/public"]\n'
    with NewAnna(tmp_path / "b", THIS_YEAR, more=plan, name="cup-2013") as cup:
        found, problems = read_joined(cup.planned, cup.planned)

    assert not problems
    assert found is not None
    assert [report.manifest.digest] == [contest.manifest for contest in found.contests]
    assert former.as_rated.programs == found.contests[0].programs
    assert len(former.counted) == found.contests[0].games


UNJOINABLE: dict[str, tuple[str, Callable[[Any], object], str]] = {
    "a start that is no time": ("contest.json", lambda contest: contest.update(frozen_at="yesterday"), "began"),
    "moves that are no digest": ("data/games.json", lambda rows: rows[0].update(moves="e4 e5"), "results"),
    "an entry that is no JSON": (
        "data/entered.json",
        lambda rows: rows.append({"agent": "zoe", "why": "", "entry": "x"}),
        "entered.json",
    ),
}


@pytest.mark.parametrize("name", UNJOINABLE)
def test_invalid_former_export_is_named_before_the_start(name: str, tmp_path: Path) -> None:
    public = Recipe("last-year", LAST_YEAR, options={"name": "cup-2012"}).export(tmp_path / "published")
    path, how, field = UNJOINABLE[name]
    if not (public.directory / path).exists():
        (public.directory / path).write_text("[]")
    change(public.directory / path, how)
    plan = '[ratings]\nwith = ["../published/public"]\n'
    with NewAnna(tmp_path / "b", THIS_YEAR, more=plan, name="cup-2013") as cup:
        problem, no_key = export_problems(cup.planned, cup.planned)

    assert problem.startswith("ratings will not be joined with former contests: ")
    assert field in problem
    assert "organiser.key is missing" in no_key


FORGERIES: dict[str, tuple[str, Callable[[Any], object], str]] = {
    "another rating": ("data/histories.json", lambda rows: rows[1].update(elo=1900.0), "data/histories.json"),
    "a former result": (JOINED, lambda each: each["contests"][0]["results"][0]["won"].append(""), "histories.json"),
    "another anchor": (JOINED, lambda each: each["anchors"].update(bert=1700), "histories.json"),
    "an anchor that is nobody": (JOINED, lambda each: each["anchors"].update(yan=1700), "anchor yan"),
    "somebody without files": (
        JOINED,
        lambda each: each["contests"][0]["programs"].pop("zoe"),
        "an agent with results has no files",
    ),
    "too many games": (
        JOINED,
        lambda each: each["contests"][0]["results"][0].update(drawn=[""] * 1_000_001),
        "more than 1000000 games",
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_history_that_was_forged_is_found(forgery: str, joined_copy: Public) -> None:
    name, how, problem = FORGERIES[forgery]
    change(joined_copy.directory / name, how)
    sign_again(joined_copy)

    assert any(problem in each for each in verify_export(joined_copy.directory, joined_copy.public_key).problems)


def test_a_history_without_what_it_follows_from_is_found(joined_copy: Public) -> None:
    (joined_copy.directory / JOINED).unlink()
    sign_again(joined_copy)

    problems = verify_export(joined_copy.directory, joined_copy.public_key).problems
    assert any("joined.json, on which it depends, is missing" in each for each in problems)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ('[ratings]\nwith = ["nowhere"]', "nowhere"),
        ('[ratings]\nwith = ["."]', "of a contest of the same name"),
        (RATINGS.replace("bert", "yan"), "did not play|takes part in none"),
        (RATINGS.replace("bert", "anna"), "anchor anna: has 2 versions"),
    ],
)
def test_unjoinable_results_are_named_by_plan_and_export_and_stop_no_page(
    more: str, problem: str, this_year: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = more.replace("../last-year", str(this_year.folder.parent / "last-year"))
    with NewAnna(tmp_path / "cup", THIS_YEAR, more=more, name="cup-2013") as cup:
        cup.export(tmp_path / "exported")
        assert not list((tmp_path / "exported").rglob(JOINED))
        (warning,) = with_joined(read_contest(cup.folder), cup.planned)[1]
        assert re.search(problem, warning)
        with closing(LivePages(cup.planned)) as pages:
            assert pages.get("agents/001.html") is not None
            assert pages.get("data/histories.json") is None
    if "versions" not in problem:  # this year's files are known at the start
        with pytest.raises(SystemExit):
            judge_plan(tmp_path / "cup")
        assert re.search(problem, capsys.readouterr().out)


def test_anchors_without_another_contest_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="anchors need joined ratings"):
        Cup(tmp_path / "cup", THIS_YEAR, more="[ratings]\nanchors = { bert = 1600 }")


def test_live_pages_show_the_same_history(this_year: Cup, joined: Public) -> None:
    with closing(LivePages(this_year.planned)) as pages:
        for path in ("data/histories.json", "data/histories.csv", JOINED):
            page = pages.get(path)
            assert page is not None
            assert (joined.directory / path).read_bytes() == page.data
            assert path in pages.paths()
        page = pages.get("agents/001.html")
        assert page is not None
        assert b"Rating history" in page.data


def test_history_is_readable_by_all_tools(browser: Browser, joined: Public) -> None:
    for width, dark in ((1000, False), (360, True)):
        browser.set_view(width, dark)
        for page in ("agents/001.html", "zh/agents/001.html"):
            browser.open(joined.directory / page)
            assert [] == browser.violations(), page
            assert browser.ask("document.documentElement.scrollWidth") <= width, page
