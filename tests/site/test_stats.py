"""`judge stats` on a contest's folder, on its export and on both, and `judge sprt` on counts."""

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.base.registry import Registry
from judge.catalog.managers import ContestManager, PairScore
from judge.cli import app
from judge.games.types import Verdict
from judge.site.charts import ratings_chart
from judge.site.site import pages
from judge.translations.language import ENGLISH
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.publish.public import Public


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False, env={"COLUMNS": "160"})
    assert 0 == done.exit_code, done.output
    return done.stdout


def document(*words: object) -> Any:
    return json.loads(run(*words, "--json"))


def test_the_games_of_a_contest_and_of_its_export_count_once(cup: Cup, exported: Public) -> None:
    """The same files join them; each agent has two versions, which are the same."""
    once, twice = document("stats", cup.folder), document("stats", cup.folder, exported.directory)
    before, joined = once["ratings"]["ratings"], twice["ratings"]["ratings"]

    assert {each["agent"] for each in before} == {each["agent"] for each in joined}
    assert [8, 8, 8, 8, 8] == [each["games"] for each in joined]
    assert {2} == {len(versions) for versions in twice["histories"].values()}
    assert re.search(r"spring-cup +2013-03-02 +same", run("stats", cup.folder, exported.directory))


def test_an_anchor_holds_the_scale(cup: Cup) -> None:
    anchored = document("stats", cup.folder, "--anchor", "bert=1600")["ratings"]["ratings"]

    assert 1600 == pytest.approx(next(each["elo"] for each in anchored if each["agent"] == "bert"))


def test_agents_are_compared_with_one(cup: Cup) -> None:
    listed = document("stats", cup.folder, "--against", "dora")["candidates"]

    assert {"anna", "bert", "-carl", "crash.test"} == {each["agent"] for each in listed}
    assert listed == sorted(listed, key=lambda each: (each["p"], each["agent"]))
    assert "against dora" in run("stats", cup.folder, "--against", "dora")


def models_on(page: str) -> dict[str, list[tuple[str, str]]]:
    """Of each model of draws on a page, the estimates with their intervals."""
    section = page.partition('<section aria-labelledby="tell">')[2].partition("</table>")[0]
    plain = section.replace("\N{MINUS SIGN}", "-").replace("&nbsp;", " ")
    assert "nan" not in plain.lower()
    assert "inf" not in plain.lower()
    rows = re.findall(r'<tr><th scope="row"><bdi>(.+?)</bdi></th>(.+?)</tr>', plain)
    return {name: re.findall(r'<td class="num">(.*?)</td><td>(.*?)</td>', cells) for name, cells in rows}


@pytest.mark.parametrize("drawn", ["none", "some", "all"])
def test_the_standings_have_both_models_of_draws(drawn: str, cup: Cup) -> None:
    """However many games are drawn. Where all are, nothing is known of the first move, and draws have no upper end."""
    contest = cup.contest.read()
    games = [*contest.games]
    for number, game in enumerate(games):
        if game.result and (drawn == "all" or (drawn == "some" and number % 3 == 0)):
            draw = game.result._replace(winner=None, verdict=Verdict.DRAW, faults=(None, None))
            games[number] = replace(game, result=draw)
    models = models_on(pages(replace(contest, games=games), {}, [ENGLISH])["index.html"]().decode())

    assert ["Rao-Kupper", "Davidson"] == list(models)
    for advantage, parameter, share in models.values():
        assert " to " in advantage[1] or drawn == "all"
        assert ("" == advantage[1]) == (drawn == "all")
        assert ("" == parameter[1] == share[1]) == (drawn == "none")
        assert ("at least" in parameter[1] and "at least" in share[1]) == (drawn == "all")
        assert ("0 %" == share[0]) == (drawn == "none")


@pytest.mark.parametrize("kept", [1, 4, 7])
def test_agents_whose_ranges_overlap_have_intervals_that_meet(kept: int, cup: Cup) -> None:
    contest = cup.contest.read()
    games = [replace(game, result=game.result if at % 8 < kept else None) for at, game in enumerate(contest.games)]
    contest = replace(contest, games=games)
    chart = ratings_chart(contest, ENGLISH)
    assert chart is not None
    (stage,) = contest.certainty
    ranges = {contest.by_name[agent].title: found for agent, found in stage.ranges.items()}
    rows = [(ranges[row.name], row) for row in chart.rows if row.name in ranges]

    for ((low, high), one), ((other_low, other_high), other) in combinations(rows, 2):
        if low <= other_high and other_low <= high:
            assert one.low <= other.high + 0.01
            assert other.low <= one.high + 0.01


def test_statistics_of_a_contest_and_of_its_export_agree(cup: Cup, exported: Public) -> None:
    assert document("stats", cup.folder) == document("stats", exported.directory)
    found = document("stats", "--certainty", cup.folder)

    assert found == document("stats", "--certainty", exported.directory)
    keys = "first second gap half_width half_width_phi phi deviance_p neighbours_not_separated groups candidates"
    assert {*keys.split(), "reversed_games", "further_games", "ranks"} <= found.keys()
    assert all(rank["low_phi"] <= rank["low"] <= rank["high"] <= rank["high_phi"] for rank in found["ranks"])
    lines = document("contest", "standings", cup.folder)["lines"]
    assert [(line["agent"], line["place"]) for line in lines] == [
        (rank["agent"], rank["place"]) for rank in found["ranks"]
    ]
    assert all(line["low"] <= line["place"] <= line["high"] for line in lines)


def test_reversed_games_of_a_contest_are_listed_and_linked(cup: Cup, exported: Public) -> None:
    found = document("stats", "--certainty", cup.folder)
    numbers = found["reversed_game_numbers"]
    results = {result.number: result for result in cup.store.results(cup.contest.name)}

    assert found["reversed_games"] == len(numbers) > 0
    winners = {(each["winner"], each["loser"]): each["games"] for each in found["reversals"]}
    turned = [results[number] for number in numbers]
    assert winners == Counter((game.winner, game.agents[game.winner == game.first]) for game in turned)
    assert f"reversed games: {', '.join(map(str, numbers))}\n" in run("stats", "--certainty", cup.folder)
    page = (exported.directory / "index.html").read_text()
    assert all(f'<a href="games/{number:05d}.html">{number}</a>' in page for number in numbers)


def test_certainty_of_another_file_names_the_package_that_reads_records(tmp_path: Path) -> None:
    (path := tmp_path / "2026_o.txt").write_text("A - B: 3 : 1\n")

    with pytest.raises(InputError, match="not a contest file; for results of another contest manager install judge-g"):
        run("stats", "--certainty", path)


@pytest.mark.parametrize("results", [[], [("A", "B", 0, 0, 0)]])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_certainty_of_a_file_without_results_is_refused(
    results: list[PairScore], more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manager of another package may read a file in which no agents met."""
    manager = ContestManager(name="other", about="another manager", pairs=lambda _: (results, ()))
    monkeypatch.setattr(Registry, "working", lambda _: [manager])
    (path := tmp_path / "results.txt").touch()

    with pytest.raises(InputError, match=r"results\.txt: it has no results"):
        run("stats", "--certainty", path, *more)


def test_certainty_of_a_knockout_is_refused(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, 'name = "knockout"\ngames = 2') as cup:
        cup.play(2)
        with pytest.raises(InputError, match="format knockout"):
            run("stats", "--certainty", cup.folder)
        assert "certain" not in run("contest", "standings", cup.folder)


def test_certainty_of_leagues_is_within_each_league(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, 'name = "leagues"\ngames = 2\nsizes = [2]\npromoted = 1') as cup:
        cup.play()
        found = document("stats", "--certainty", cup.folder)
        shown = run("contest", "standings", cup.folder)

    stages = found.get("stages", [found])
    assert all(rank["low"] > 2 for stage in stages if stage["stage"] == "League 2" for rank in stage["ranks"])
    assert {"League 1", "League 2"} >= {stage["stage"] for stage in stages}
    assert "League" in shown


def test_the_calculator_prints_the_test_and_the_estimate() -> None:
    said = run("sprt", 379, 10170, 21828, 10640, 343, "--elo1", 2, "--model", "normalized")

    assert "normalized  +3.05 (+0.74 to +5.36)" in said
    assert "LLR         2.94550 (-2.94 to 2.94): accept H1" in said
    found = document("sprt", 0, 0, 10)
    assert found["estimate"]["elo"]["high"] is None
    assert "…" in run("sprt", 0, 0, 10)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--against", "nobody"), "no agent has a result against it"),
        (("--anchor", "bert"), "write NAME=ELO"),
        (("--anchor", "zoe=1"), "anchor zoe: did not play"),
        (("--certainty", "--against", "dora"), "--certainty is for one CONTEST"),
        (("--certainty", "--anchor", "bert=0"), "--certainty is for one CONTEST"),
        (("--certainty", "."), "--certainty is for one CONTEST"),
    ],
)
def test_errors_are_reported(words: tuple[str, ...], problem: str, cup: Cup) -> None:
    with pytest.raises(InputError, match=problem):
        run("stats", cup.folder, *words)
