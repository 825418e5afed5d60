"""What the pages say of agents that are compared with one: in a gauntlet, and in a sequential test."""

import re
from pathlib import Path

import pytest

from judge.cli.contest.tables import sequential
from judge.export.export import PageOptions
from judge.publish.load import load_store
from judge.statistics.match_estimate import compare_candidates
from tests.contests import Recipe
from tests.examples import evidence
from tests.publish.cups import STRONG_TO_WEAK, Cast, Cup, player
from tests.publish.public import Public
from tests.site.browser import Browser

PAIR: Cast = {"anna": player("anna", 0.7), "bert": player("bert", 0.6)}
FORMS = {
    "gauntlet": (STRONG_TO_WEAK, 'name = "gauntlet"\ngames = 12'),
    "sprt": (PAIR, 'name = "sprt"\ngames = 10\nrounds = 2\ntest = { elo0 = 0, elo1 = 2, model = "normalized" }'),
}


def published(form: str, folder: Path) -> tuple[str, Public, Cup]:
    """The page of the standings, and where it comes from."""
    cast, text = FORMS[form]
    recipe = Recipe(form, cast, text, pages=PageOptions())
    cup, public = recipe.contest(folder / "cup"), recipe.export(folder)
    page = (public.directory / "index.html").read_text().replace("\N{MINUS SIGN}", "-").replace("&nbsp;", " ")
    return page.partition('<section aria-labelledby="compared">')[2].partition("</section>")[0], public, cup


def test_gauntlet_compares_all_agents_with_the_challenger(tmp_path: Path) -> None:
    section, _, cup = published("gauntlet", tmp_path)
    expected = compare_candidates(load_store(cup.contest).counted, "anna")
    cup.close()

    assert 4 == len(expected)
    rows = re.findall(r'<bdi>(\S+)</bdi></a></th><td class="num">(\d+)</td><td class="num">([\d.]+) %', section)
    assert [(each.agent, each.estimate.games, f"{100 * each.estimate.score:.1f}") for each in expected] == [
        (agent, int(games), f"{float(score):.1f}") for agent, games, score in rows
    ]
    # Whoever lost every game has an Elo that is open below, and no number.
    assert "at most" in section
    assert "Sequential test" not in section


def test_sequential_test_reports_its_state(tmp_path: Path) -> None:
    section, _, cup = published("sprt", tmp_path)
    test = sequential(cup.contest, cup.contest.standing())
    (candidate,) = compare_candidates(cup.contest.results(), "bert")
    cup.close()

    assert test is not None
    assert "Compared with <a" in section
    assert f"{100 * candidate.estimate.los:.1f}".removesuffix(".0") + " %" in section
    said = re.search(r"of normalized Elo, H0: 0, H1: 2\. .* ratio is (\S+), its bounds are -2\.94 and 2\.94", section)
    assert said is not None
    assert float(said[1]) == pytest.approx(test.llr, abs=0.006)
    assert ": not decided." in section


def test_other_contests_compare_no_agents(exported: Public) -> None:
    assert 'id="compared"' not in (exported.directory / "index.html").read_text()


@pytest.mark.parametrize("form", [pytest.param("gauntlet", marks=evidence), "sprt"])
def test_comparison_is_readable_by_all_tools(form: str, browser: Browser, tmp_path: Path) -> None:
    _, public, cup = published(form, tmp_path)
    cup.close()
    for width, dark in ((1000, False), (360, True)):
        browser.look(width, dark)
        for page in ("index.html", "cs/index.html"):
            browser.open(public.directory / page)
            assert [] == browser.violations(), page
            assert browser.ask("document.documentElement.scrollWidth") <= width, page
