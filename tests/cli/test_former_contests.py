"""Contests whose ratings are joined: what cannot be joined is named before the start, and no export fails for it."""

import tomllib
from pathlib import Path

import pytest

from judge.contest.contest import Contest
from judge.contest.earlier_contests import read_contest
from judge.contest.plan import load_plan
from judge.publish.before_export import with_joined
from judge.publish.export.export import PageOptions, publish
from judge.transparency.keys import make_key
from tests.cli.conftest import Judge
from tests.contests import Recipe, nothing
from tests.publish.cups import Cast, Cup, player
from tests.publish.public import Public

CAST: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.5)}

LAST = Recipe(
    "last-season", CAST, more='change = ["clock.turn_ms=300"]  # fast', options={"name": "last", "drawn": nothing}
)


@pytest.fixture
def last(tmp_path: Path) -> Path:
    with LAST.contest(tmp_path / "last") as cup:
        return cup.folder


@pytest.mark.parametrize(("turn_ms", "is_joined"), [("500", False), ("300", True)])
def test_the_next_season_joins_ratings_only_with_the_same_clocks(
    judge: Judge, tmp_path: Path, last: Path, turn_ms: str, is_joined: bool
) -> None:
    made = judge("contest", "init", "next", "--from", "last", "--turn-ms", turn_ms, code=0)

    text = (tmp_path / "next/contest.toml").read_text()
    assert [f"clock.turn_ms={turn_ms}"] == tomllib.loads(text)["change"]
    assert (["../last"] if is_joined else None) == tomllib.loads(text).get("ratings", {}).get("with")
    assert is_joined == ("joined with last" in made.out)
    assert is_joined != ("left out: next/../last has other rules or clocks (clock.turn_ms is 300 and 500)" in made.out)
    assert "ratings" not in judge("contest", "plan", "next").out
    assert "# fast" in text


def test_a_chain_of_seasons_joins_what_can_be_compared(judge: Judge, tmp_path: Path, last: Path) -> None:
    more = 'change = ["clock.turn_ms=300"]\n[ratings]\nwith = ["../last"]\nanchors = { anna = 1500 }'
    with Cup(tmp_path / "second", CAST, name="second", more=more, drawn=nothing) as cup:
        cup.play()
    for name, options in (("third", ()), ("other", ("--match-ms", "9000"))):
        assert 0 == judge("contest", "init", name, "--from", "second", *options).code
    third, other = (tomllib.loads((tmp_path / name / "contest.toml").read_text()) for name in ("third", "other"))
    assert {"with": ["../last", "../second"], "anchors": {"anna": 1500}} == third["ratings"]
    assert {"with", "anchors"}.isdisjoint(other.get("ratings", {}))


def test_an_edited_file_does_not_change_the_comparison(tmp_path: Path, last: Path) -> None:
    more = 'change = ["clock.turn_ms=300"]\n[ratings]\nwith = ["../last"]'
    with Cup(tmp_path / "new", CAST, name="new", more=more, drawn=nothing) as cup:
        cup.play()
        cup.planned.path.write_text(cup.planned.text.replace("turn_ms=300", "turn_ms=2000"))
        edited = load_plan(cup.folder)
        contest, problems = with_joined(read_contest(cup.folder), edited)
        public = Public(tmp_path, make_key(tmp_path / "organiser.key"))
        summary = publish(
            Contest(cup.store, edited), public.directory, public.private, public.key, PageOptions(languages=("en",))
        )

    assert [] == [*problems] == [*summary.warnings]
    assert contest.joined is not None
    assert (public.directory / "joined.json").exists()
