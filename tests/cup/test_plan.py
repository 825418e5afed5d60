"""cup.toml: its mistakes with their lines, and the contests that follow from it."""

import tomllib
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.base.toml_files import toml_value
from judge.contest.plan import AgentPlan, load_plan
from judge.cup.plan import PlannedCup, load_cup

HEAD = 'name = "cup"\n'
ROUND_ROBIN = 'format = { name = "round-robin" }\n'
ONE = f'[[leagues]]\nname = "one"\npolicy = "gomocup-fastgame"\n{ROUND_ROBIN}'
TWO = f'[[leagues]]\nname = "two"\npolicy = "gomocup-caro"\n{ROUND_ROBIN}'


def entry(name: str, *leagues: str) -> str:
    return f'[[entries]]\npath = "house-instant"\nname = "{name}"\nleagues = {toml_value(list(leagues))}\n'


def plan(folder: Path, text: str) -> PlannedCup:
    path = folder / "cup.toml"
    path.write_text(text, encoding="utf-8")
    return load_cup(folder)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD, "the key 'leagues' is missing"),
        (HEAD + ONE + ONE, "line 7: leagues.name: two leagues are named one; rename one"),
        (HEAD + ONE.replace("one", "agents"), "line 3: leagues.name: agents is a folder of the site"),
        (HEAD + ONE.replace("one", "a/b"), "line 3: leagues.0.name: String should match pattern"),
        (HEAD + ONE.replace("fastgame", "fastgam"), "line 4: leagues.one.policy: unknown policy 'gomocup-fastgam'"),
        (HEAD + ONE + "medal = false\n", "line 6: unknown key 'leagues.0.medal'; did you mean 'medals'?"),
        (HEAD + ONE + 'order = "lowest"\n', 'line 6: leagues.one.order = "lowest"'),
        (HEAD + ONE + "promoted = 2\n", "promoted needs after"),
        (HEAD + ONE + "promotes_new = true\n", "promotes_new needs after"),
        (
            HEAD + ONE + TWO + 'after = "one"\npromotes_new = true\n',
            "line 11: leagues.two.promotes_new: leagues.one needs format.skip: agents without a rating there are new",
        ),
        (HEAD + ONE + f'cup = {{ name = "cup", announcement = "{"0" * 64}" }}\n', "judge writes the key cup"),
        (HEAD + ONE + 'agents = [{ path = "a" }]\n', "agents of a cup are in [[entries]]"),
        (HEAD + ONE + 'after = "two"\n' + TWO, "line 6: leagues.one.after: no earlier league 'two'"),
        (HEAD + ONE + entry("a"), "line 9: entries.0.leagues: Tuple should have at least 1 item"),
        (HEAD + ONE + entry("a", "ona"), "line 9: entries.a.leagues: no league 'ona'; did you mean 'one'?"),
        (HEAD + ONE + entry("a", "one", "one"), "line 9: entries.a.leagues: one is listed twice"),
        (HEAD + ONE + entry("a", "one") + entry("a", "one"), "line 10: entries: a is listed twice"),
        (HEAD + ONE + '[[entries]]\npath = "a"\n', "the key 'entries.0.leagues' is missing"),
        (HEAD + 'zone = "Mars/One"\n' + ONE + "contest = { starts = 2027-03-01T18:00:00 }", "'Mars/One' is not known"),
    ],
)
def test_mistake_is_reported_with_file_and_field(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError) as raised:
        plan(tmp_path, text)

    assert str(raised.value).startswith(f"{tmp_path / 'cup.toml'}")
    assert sentence in str(raised.value)
    assert ["cup.toml"] == [path.name for path in tmp_path.iterdir()]


def test_league_has_the_shared_keys_of_the_cup_unless_it_has_its_own(tmp_path: Path) -> None:
    moments = "submissions = { closes = 2027-03-01T18:00:00 }\n"
    shared = f'zone = "Europe/Prague"\nagents_per_author = 1\n{moments}'
    cup = plan(tmp_path, HEAD + shared + ONE + TWO + "agents_per_author = 2\n")

    one, two = (cup.contest(name).plan for name in ("one", "two"))
    assert ("cup-one", 1, 2) == (one.name, one.agents_per_author, two.agents_per_author)
    assert one.windows == two.windows
    assert "CET (Europe/Prague)" in one.windows.words


def test_file_of_a_league_is_a_contest_with_the_same_values(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "openings.txt").write_text("h8i9\n")
    openings = 'openings = { file = "openings.txt", shuffle = true }\n'
    ratings = 'ratings = { with = ["../last/one"], anchors = { "a.b" = 1500.5 } }\n'
    mine = '[[entries]]\npath = "mine"\nleagues = ["one"]\n'
    cup = plan(tmp_path, HEAD + ONE + openings + ratings + entry("a", "one") + mine)

    written = cup.write("one", [AgentPlan(path="two/agents/b", name="b")])

    assert tmp_path / "one/contest.toml" == written.path
    assert [("house-instant", "a"), ("../mine", ""), ("../two/agents/b", "b")] == [
        (agent.path, agent.name) for agent in written.plan.agents
    ]
    assert ("../openings.txt", True) == (written.plan.openings.file, written.plan.openings.shuffle)
    assert (("../../last/one",), {"a.b": 1500.5}) == (written.plan.ratings.with_, written.plan.ratings.anchors)
    assert [str(tmp_path / "mine"), f"{tmp_path}/openings.txt"] == [
        cup.contest("one").plan.agents[1].path,
        cup.contest("one").plan.openings.file,
    ]
    assert 1 == len(written.openings())


def test_contest_that_the_cup_did_not_write_is_kept(tmp_path: Path) -> None:
    cup = plan(tmp_path, HEAD + ONE)
    (tmp_path / "one").mkdir()
    path = tmp_path / "one/contest.toml"
    path.write_text('name = "mine"\n')

    with pytest.raises(InputError, match=r"one/contest.toml: not written by judge; rename the league one"):
        cup.write("one")
    assert 'name = "mine"\n' == path.read_text()


def test_league_that_waits_for_another_one_does_not_start_by_itself(tmp_path: Path) -> None:
    starts = "contest = { starts = 2027-03-01T18:00:00Z }\n"
    cup = plan(tmp_path, HEAD + starts + ONE + TWO + 'after = "one"\n')

    cup.write("two", is_complete=False)
    assert load_plan(tmp_path / "two").plan.windows.starts is None
    cup.write("two")
    assert load_plan(tmp_path / "two").plan.windows.starts is not None


def test_toml_value_is_read_back() -> None:
    document = {"a b": [1, 2.5, True, 'é"\n'], "c": {"d": {}, "e": []}, "f": 1e-9}

    assert document == tomllib.loads(f"value = {toml_value(document)}")["value"]
