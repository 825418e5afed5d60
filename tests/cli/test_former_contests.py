"""Contests whose ratings are joined: what cannot be joined is named before the start, and no export fails for it."""

import tomllib
from pathlib import Path

import pytest

from judge.contest.contest import Contest
from judge.contest.plan import load_plan
from judge.export.export import PageOptions, publish
from judge.publish.before_export import export_problems
from judge.publish.load import load_any, with_joined
from judge.transparency.keys import make_key
from tests.cli.conftest import Judge
from tests.contests import nothing
from tests.publish.cups import Cast, Cup, player
from tests.publish.public import Public

CAST: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.5)}


@pytest.fixture
def last(tmp_path: Path) -> Path:
    with Cup(tmp_path / "last", CAST, name="last", more='change = ["clock.turn_ms=300"]  # fast', drawn=nothing) as cup:
        cup.play()
    return cup.folder


@pytest.mark.parametrize(
    ("changed", "joined"), [((), True), (("--turn-ms", "500"), False), (("--turn-ms", "300"), True)]
)
def test_the_next_season_joins_ratings_only_with_the_same_clocks(
    judge: Judge, tmp_path: Path, last: Path, changed: tuple[str, ...], joined: bool
) -> None:
    made = judge("contest", "init", "next", "--from", "last", *changed)

    assert 0 == made.code, made.err
    document = tomllib.loads((tmp_path / "next/contest.toml").read_text())
    assert [f"clock.turn_ms={500 if not joined else 300}"] == document["change"]
    assert (["../last"] if joined else None) == document.get("ratings", {}).get("with")
    assert ("joined with last" in made.out) == joined
    assert ("left out: next/../last has other rules or clocks (clock.turn_ms is 300 and 500)" in made.out) != joined
    plan = judge("contest", "plan", "next")
    assert "ratings" not in plan.out
    assert "# fast" in (tmp_path / "next/contest.toml").read_text()


def test_a_chain_of_seasons_joins_what_can_be_compared(judge: Judge, tmp_path: Path, last: Path) -> None:
    more = 'change = ["clock.turn_ms=300"]\n[ratings]\nwith = ["../last"]\nanchors = { anna = 1500 }'
    with Cup(tmp_path / "second", CAST, name="second", more=more, drawn=nothing) as cup:
        cup.play()
    for name, options, expected in (
        ("third", (), ["../last", "../second"]),
        ("other", ("--match-ms", "9000"), None),
    ):
        assert 0 == judge("contest", "init", name, "--from", "second", *options).code
        document = tomllib.loads((tmp_path / name / "contest.toml").read_text())
        assert expected == document.get("ratings", {}).get("with")
        assert (expected is not None) == ("anchors" in document.get("ratings", {}))


@pytest.fixture
def incomparable(tmp_path: Path, last: Path) -> Cup:
    more = 'change = ["clock.turn_ms=500"]\n[ratings]\nwith = ["../last"]'
    return Cup(tmp_path / "new", CAST, name="new", more=more, drawn=nothing)


REASON = "has other rules or clocks (clock.turn_ms is 300 and 500)"


def test_plan_announce_and_run_name_what_an_export_leaves_out(judge: Judge, tmp_path: Path, incomparable: Cup) -> None:
    incomparable.play()
    incomparable.close()
    make_key(tmp_path / "new/organiser.key")

    plan = judge("contest", "plan", "new")
    assert (1, True) == (plan.code, REASON in plan.out)
    (problem,) = export_problems(incomparable.planned, incomparable.planned.policy)
    assert REASON in problem
    exported = judge("contest", "export", "public", "new")
    assert 0 == exported.code, exported.err
    assert (
        f"ratings are not joined with former contests: new/contest.toml: [ratings] with: new/../last {REASON}"
        in exported.err
    )
    assert not (tmp_path / "public/joined.json").exists()


def test_announce_warns_before_the_start(judge: Judge, tmp_path: Path, last: Path) -> None:
    judge("contest", "init", "new", "--policy", "gomocup-standard", "--agent", "house-instant")
    path = tmp_path / "new/contest.toml"
    path.write_text(path.read_text() + '[ratings]\nwith = ["../last", "../nowhere"]\n')

    announced = judge("contest", "announce", "new")

    assert 0 == announced.code
    for reason in ("../last has other rules", "nowhere", "organiser.key is missing"):
        assert reason in announced.err


def test_an_edited_file_does_not_change_the_comparison(tmp_path: Path, last: Path) -> None:
    """What was locked in decides."""
    more = 'change = ["clock.turn_ms=300"]\n[ratings]\nwith = ["../last"]'
    with Cup(tmp_path / "new", CAST, name="new", more=more, drawn=nothing) as cup:
        cup.play()
        cup.planned.path.write_text(cup.planned.text.replace("turn_ms=300", "turn_ms=2000"))
        edited = load_plan(cup.folder)
        contest, problems = with_joined(load_any(cup.folder), edited)
        public = Public(tmp_path, make_key(tmp_path / "organiser.key"))
        summary = publish(
            Contest(cup.store, edited), public.directory, public.private, public.key, PageOptions(languages=("en",))
        )

    assert [] == [*problems] == [*summary.warnings]
    assert contest.joined is not None
    assert (public.directory / "joined.json").exists()


def test_an_anchor_that_did_not_play_is_a_warning_of_the_export(tmp_path: Path, last: Path) -> None:
    more = 'change = ["clock.turn_ms=300"]\n[ratings]\nwith = ["../last"]\nanchors = { nobody = 1 }'
    with Cup(tmp_path / "new", CAST, name="new", more=more, drawn=nothing) as cup:
        cup.play()
        contest, (problem,) = with_joined(load_any(cup.folder), cup.planned)

    assert "anchor nobody: did not play" in problem
    assert contest.joined is None
