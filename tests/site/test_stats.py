"""`judge stats` on a contest's folder, on its export and on both, and `judge sprt` on counts."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.cli import app
from judge.contest_games import GameResult
from judge.games.types import Verdict
from judge.publish.load import load_store
from judge.site.site import pages
from judge.statistics.ratings import rate
from judge.translations.language import CODES, languages
from tests.publish.cups import Cup
from tests.publish.public import Public


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False, env={"COLUMNS": "160"})
    assert 0 == done.exit_code, done.output
    return done.stdout


def document(*words: object) -> Any:
    return json.loads(run(*words, "--json"))


def test_contest_and_its_export_agree(cup: Cup, exported: Public) -> None:
    assert document("stats", cup.folder) == document("stats", exported.directory)


def test_ratings_are_those_of_the_standings(cup: Cup) -> None:
    rated = rate(cup.store.results(cup.contest.name))

    shown = {each["agent"]: each["elo"] for each in document("stats", cup.folder)["ratings"]["ratings"]}
    assert shown == pytest.approx({rating.agent: rating.elo for rating in rated.ratings}, abs=1e-6)


def test_a_contest_and_itself_have_twice_the_games_and_the_same_order(cup: Cup, exported: Public) -> None:
    """The same files join them; each agent has two versions, which are the same."""
    once, twice = document("stats", cup.folder), document("stats", cup.folder, exported.directory)

    assert {each["agent"] for each in once["ratings"]["ratings"]} == {
        each["agent"] for each in twice["ratings"]["ratings"]
    }
    assert [16, 16, 16, 16, 16] == [each["games"] for each in twice["ratings"]["ratings"]]
    assert {2} == {len(versions) for versions in twice["histories"].values()}
    assert re.search(r"spring-cup +2013-03-01 +same", run("stats", cup.folder, exported.directory))


def test_an_anchor_holds_the_scale(cup: Cup) -> None:
    anchored = document("stats", cup.folder, "--anchor", "bert=1600")

    assert 1600 == pytest.approx(
        next(each["elo"] for each in anchored["ratings"]["ratings"] if each["agent"] == "bert")
    )


def test_agents_are_compared_with_one(cup: Cup) -> None:
    listed = document("stats", cup.folder, "--against", "dora")["candidates"]

    assert {"anna", "bert", "-carl", "crash.test"} == {each["agent"] for each in listed}
    assert listed == sorted(listed, key=lambda each: (each["p"], each["agent"]))
    assert "against dora" in run("stats", cup.folder, "--against", "dora")


def test_standings_show_the_first_move_advantage(cup: Cup, exported: Public) -> None:
    page = (exported.directory / "index.html").read_text()

    for model, draws in (("Rao-Kupper", "rao-kupper"), ("Davidson", "davidson")):
        rated = document("stats", cup.folder, "--draws", draws)["ratings"]
        advantage, margin, shares = models_on(page)[model]
        of = rated["advantage"]
        assert (f"{of['elo']:.0f}", f"{of['low']:.0f} to {of['high']:.0f}") == advantage
        # Nobody drew a game.
        assert ("0 Elo" if draws == "rao-kupper" else "0", "") == margin
        assert ("0 %", "") == shares
    assert "The ratings fit the results of all pairs" in page


def models_on(page: str) -> dict[str, list[tuple[str, str]]]:
    """Of each model of draws on a page, the estimates with their intervals."""
    section = page.partition('<section aria-labelledby="tell">')[2].partition("</table>")[0]
    plain = section.replace("\N{MINUS SIGN}", "-").replace("&nbsp;", " ")
    assert "nan" not in plain.lower()
    assert "inf" not in plain.lower()
    rows = re.findall(r'<tr><th scope="row"><bdi>(.+?)</bdi></th>(.+?)</tr>', plain)
    return {name: re.findall(r'<td class="num">(.*?)</td><td>(.*?)</td>', cells) for name, cells in rows}


PAGES = [("", "to", "no upper end"), ("cs/", "až", "bez horní meze"), ("zh/", "至", "无上限")]


@pytest.mark.parametrize(("language", "to", "no_end"), PAGES)
@pytest.mark.parametrize("drawn", ["none", "some", "all"])
def test_the_standings_have_both_models_of_draws(drawn: str, language: str, to: str, no_end: str, cup: Cup) -> None:
    """However many games are drawn. Where all are, nothing is known of the first move, and draws have no upper end."""
    contest = load_store(cup.contest)
    games = [
        replace(game, result=game.result and as_draw(game.result))
        if drawn == "all" or (drawn == "some" and number % 3 == 0)
        else game
        for number, game in enumerate(contest.games)
    ]
    written = pages(replace(contest, games=games), {}, languages(CODES))
    models = models_on(written[f"{language}index.html"]().decode())

    assert ["Rao-Kupper", "Davidson"] == list(models)
    for advantage, parameter, share in models.values():
        assert f" {to} " in advantage[1] or drawn == "all"
        assert ("" == advantage[1]) == (drawn == "all")
        assert ("" == parameter[1] == share[1]) == (drawn == "none")
        assert (no_end in parameter[1] and no_end in share[1]) == (drawn == "all")
        assert ("0 %" == share[0]) == (drawn == "none")


def as_draw(result: GameResult) -> GameResult:
    return result._replace(winner=None, verdict=Verdict.DRAW, faults=(None, None))


def test_errors_are_reported(cup: Cup) -> None:
    for words, said in (
        (("--against", "nobody"), "no agent has a result against it"),
        (("--anchor", "bert"), "write NAME=ELO"),
        (("--anchor", "zoe=1"), "anchor zoe: did not play"),
    ):
        with pytest.raises(InputError, match=said):
            run("stats", cup.folder, *words)


def test_the_calculator_prints_the_test_and_the_estimate() -> None:
    said = run("sprt", 379, 10170, 21828, 10640, 343, "--elo1", 2, "--model", "normalized")

    assert "normalized  +3.05 (+0.74 to +5.36)" in said
    assert "LLR         2.94550 (-2.94 to 2.94): accept H1" in said
    found = document("sprt", 0, 0, 10)
    assert found["estimate"]["elo"]["high"] is None
    assert "…" in run("sprt", 0, 0, 10)


def test_hypotheses_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(InputError, match="elo0 must be less than elo1"):
        run("sprt", 1, 2, 3, "--elo0", 20)
