"""`judge stats` on a contest's folder, on its export and on both, and `judge sprt` on counts."""

import json
import re
from typing import Any

import pytest
from typer.testing import CliRunner

from judge.cli import app
from judge.errors import InputError
from judge.statistics.ratings import rate
from tests.publish.cups import Cup
from tests.publish.public import Public


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False, env={"COLUMNS": "160"})
    assert 0 == done.exit_code, done.output
    return done.stdout


def document(*words: object) -> Any:
    return json.loads(run(*words, "--json"))


def test_a_contest_and_its_export_say_the_same(cup: Cup, exported: Public) -> None:
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


def test_the_standings_say_what_sitting_first_is_worth(cup: Cup, exported: Public) -> None:
    page = (exported.directory / "index.html").read_text()

    advantage = document("stats", cup.folder)["ratings"]["advantage"]["elo"]
    assert f"Sitting first is worth {advantage:.0f} Elo" in page.replace("\N{MINUS SIGN}", "-")
    assert "Ratings tell the results of all pairs" in page


def test_what_is_wrong_is_said(cup: Cup) -> None:
    for words, said in (
        (("--against", "nobody"), "nobody has a result against"),
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
