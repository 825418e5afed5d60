"""judge's own balanced openings."""

from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.base.resources import OPENINGS
from judge.catalog import game_entry
from judge.contest.estimate import warnings_of
from judge.contest.opening_files import opening_file, read_openings, shipped_openings
from judge.contest.plan import load_plan
from judge.record.policy import load_policy, policy_names

NEED_OPENINGS = {
    "gomocup-caro": "judge:caro-15",
    "gomocup-fastgame": "judge:freestyle-20",
    "gomocup-freestyle": "judge:freestyle-20",
    "gomocup-freestyle-15": "judge:freestyle-15",
    "gomocup-oversubscribed": "judge:freestyle-20",
    "gomocup-standard": "judge:standard-15",
    "renju-15": "judge:renju-15",
}
"""Policies in which both agents begin with the colours of their seats."""


def test_each_policy_without_an_opening_stage_has_balanced_openings() -> None:
    found = {name: shipped_openings(load_policy(name)) for name in policy_names()}

    assert NEED_OPENINGS == {name: openings for name, openings in found.items() if openings and "agi" not in name}
    assert not found["gomocup-swap2"]
    assert not shipped_openings(load_policy("gomocup-standard", ["game.options.width=16", "game.options.height=16"]))


@pytest.mark.parametrize("path", sorted(OPENINGS.glob("*.txt")), ids=lambda path: path.stem)
def test_openings_are_twenty_legal_different_and_measured(path: Path) -> None:
    rule, _, size = path.stem.rpartition("-")
    options = {"width": int(size), "height": int(size), "rule": rule}
    written = game_entry("gomoku").openings(options)
    assert written is not None
    openings = read_openings(path, written)

    assert 20 == len(openings)
    images = set()
    for opening in openings:
        assert not isinstance(opening, str)
        turned = [[turn(x, y) for x, y in opening] for turn in written.turns]
        images.add(min((tuple(sorted(each[::2])), tuple(sorted(each[1::2]))) for each in turned))
        assert not game_entry("gomoku").new({**options, "opening": opening}).end
    assert 20 == len(images)
    scores = [float(line.partition("#")[2]) for line in path.read_text().splitlines() if not line.startswith("#")]
    assert all(2 <= score <= 4 for score in scores)
    assert 2.5 <= sum(scores) / 20 <= 3.5


def test_an_unknown_name_is_an_error_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"judge:freestyl-20: did you mean 'judge:freestyle-20'\?|judge:freestyle-20"):
        opening_file(tmp_path, "judge:freestyl-20")
    for name in ("judge:../openings/caro-15", "judge:", "judge:caro-15.txt"):
        with pytest.raises(InputError):
            opening_file(tmp_path, name)


PLAN = """name = "cup"
policy = "gomocup-freestyle"
[format]
{form}
{openings}
[[agents]]
path = "house-instant"
[[agents]]
path = "house-python"
"""
OWN = '[openings]\nfile = "judge:freestyle-20"\n'


@pytest.mark.parametrize(
    ("form", "openings", "warning"),
    [
        ('name = "round-robin"\ngames = 1', "", ""),
        ('name = "round-robin"\ngames = 2', "", ""),
        ('name = "round-robin"\ngames = 4', "", "no openings: agents without chance play at most 2 different games"),
        ('name = "round-robin"\ngames = 2\ncycles = 2', "", "at most 2 different games"),
        ('name = "double-round-robin"\ngames = 2', "", "at most 2 different games"),
        ('name = "round-robin"\ngames = 40', OWN, ""),
        ('name = "round-robin"\ngames = 42', OWN, "20 openings: agents without chance play at most 40 different games"),
        ('name = "round-robin"\ngames = 42', OWN + "transform = true\n", ""),
        ('name = "sprt"', OWN, "at most 40 different games"),
        ('name = "sprt"', "", 'write file = "judge:freestyle-20" under [openings]'),
        ('name = "ladder"\ntotal_games = 100', "", "at most 2 different games"),
        ('name = "swiss"\nrounds = 1\ngames = 2', "", ""),
    ],
)
def test_plan_warns_where_agents_can_only_repeat_games(form: str, openings: str, warning: str, tmp_path: Path) -> None:
    (tmp_path / "contest.toml").write_text(PLAN.format(form=form, openings=openings))
    found = [*warnings_of(load_plan(tmp_path))]

    assert bool(warning) == bool(found)
    assert all(warning in each for each in found)


@pytest.mark.parametrize(
    ("policy", "warns"), [("stratego-seed", False), ("stratego-2012", True), ("qchess-seed", False)]
)
def test_games_with_chance_need_no_openings(policy: str, warns: bool, tmp_path: Path) -> None:
    text = PLAN.format(form='name = "round-robin"\ngames = 4', openings="").replace("gomocup-freestyle", policy)
    (tmp_path / "contest.toml").write_text(text)

    assert warns == bool([*warnings_of(load_plan(tmp_path))])


@pytest.mark.parametrize(
    ("policy", "agent", "why"),
    [
        ("gomocup-caro", "house-python", "it plays freestyle and standard, not caro"),
        ("gomocup-caro", "house-renju", ""),
        ("renju-15", "house-strong", "it plays freestyle and standard, not renju"),
        ("gomocup-swap2", "house-strong", "it does not play swap2"),
        ("gomocup-swap2", "house-instant", "it does not play swap2"),
        ("gomocup-swap2", "house-renju", ""),
        ("gomocup-standard", "house-java", ""),
        ("stratego-seed", "house-stratego", ""),
    ],
)
def test_plan_names_house_agents_that_do_not_play_the_rules(policy: str, agent: str, why: str, tmp_path: Path) -> None:
    agents = f'policy = "{policy}"\n[format]\nname = "round-robin"\n[[agents]]\npath = "{agent}"\n'
    (tmp_path / "contest.toml").write_text(f'name = "cup"\n{agents}')
    found = [*warnings_of(load_plan(tmp_path))]

    assert [f"{agent}: {why}"] * bool(why) == [each[: len(f"{agent}: {why}")] for each in found if why]
    assert bool(why) == bool(found)
