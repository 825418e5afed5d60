"""contest.toml: what stands in it, and each mistake with its line before anything is played."""

import re
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest.plan import Planned, load_plan

HEAD = 'name = "cup"\npolicy = "gomocup-fastgame"\n'
TIMED = 'change = ["clock.control=60"]\n'
ROUND_ROBIN = '[format]\nname = "round-robin"\n'


def plan(folder: Path, text: str) -> Planned:
    path = folder / "contest.toml"
    path.write_text(text, encoding="utf-8")
    return load_plan(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD + ROUND_ROBIN + "cylces = 2", "line 5: unknown key 'format.cylces'; did you mean 'cycles'?"),
        (HEAD + '[format]\nname = "swiss"', ": the key 'format.rounds' is missing"),
        (HEAD + '[format]\nname = "swiss"\nrounds = 0', "line 5: format.rounds: Input should be greater than or equal"),
        (HEAD + '[format]\nname = "swizz"', "line 3: format: .*'swiss'"),
        (HEAD + '[format]\nname = "leagues"\nsizes = [2]\npromotes_new = true', "promotes_new needs skip"),
        (HEAD + '[freeze]\nlast_rounds = 2\n[format]\nname = "ladder"', "a ladder has no rounds that could be"),
        (HEAD + '[freeze]\nlast_rounds = 2\n[format]\nname = "knockout"', "depends on results: give the moment at"),
        (HEAD + "[freeze]\nreveal_at = 2027-03-02T18:00:00Z\n" + ROUND_ROBIN, "give either last_rounds or at"),
        (HEAD + "[freeze]\nlast_rounds = 0\n" + ROUND_ROBIN, "line 4: freeze.last_rounds: Input should be greater"),
        (
            HEAD + "[freeze]\nat = 2027-03-02T18:00:00Z\nreveal_at = 2027-03-02T17:00:00Z\n" + ROUND_ROBIN,
            "freeze.reveal_at is 2027-03-02 17:00:00 UTC, before freeze.at",
        ),
        (
            HEAD + ROUND_ROBIN + '[[agents]]\npath = "a"\n[[agents]]\npath = "b"\nnme = "c"',
            "line 9: unknown key 'agents.1.nme'; did you mean 'name'?",
        ),
        (
            HEAD + ROUND_ROBIN + '[[agents]]\npath = "a"\nname = "b\\u001b[31m"',
            "line 7: agents.0.name: String should match pattern",
        ),
        (HEAD + ROUND_ROBIN + "[failures]\nlimit = 1.5", "line 6: failures.limit: Input should be less than or equal"),
        (HEAD + 'order = "lowest"\n' + ROUND_ROBIN, r'order = "lowest".*folders\.round=first'),
        (HEAD + ROUND_ROBIN + 'ranking = ["elo", "luck"]', "line 5: .* unknown criterion 'luck'"),
        (HEAD + 'seed = -1\n[format]\nname = "knockout"', "line 3: seed: .* greater than or equal"),
        (
            HEAD + 'box = "process"\n[format]\nname = "knockout"',
            'box = "process" isolates nothing, so no contest is played in it; leave the key out',
        ),
        (
            HEAD + 'change = ["box.transport=attach"]\n' + ROUND_ROBIN,
            "a contest needs named pipes .*: box.transport = 'attach' selects the Engine's stream; leave the key out",
        ),
        (HEAD + 'change = ["box.runtime=runsc"]\n' + ROUND_ROBIN, "box.runtime = 'runsc' has a separate kernel"),
        (
            HEAD + '[clocks]\nanna = "60"\n' + ROUND_ROBIN,
            r"line 3: clocks: policy gomocup-fastgame limits turns .*\"clock\.control=60\+0\.6\", to change",
        ),
        (
            HEAD + TIMED + '[clocks]\nanna = "60,30"\n' + ROUND_ROBIN,
            "line 5: clocks.anna: '60,30': the time of the game",
        ),
        (
            HEAD + TIMED + '[clocks]\n"anna.b" = "9:5"\n' + ROUND_ROBIN,
            'line 4: clocks.anna.b: .* a period before ":" needs its number of answers',
        ),
        (
            HEAD + TIMED + '[clocks]\nanna = "60"\n[format]\nname = "ladder"',
            "line 4: clocks: a ladder rates all agents under one clock: leave it out",
        ),
        ('name = "a/b"\npolicy = "gomocup-fastgame"\n' + ROUND_ROBIN, "line 1: name: "),
        (HEAD + 'name = "cup"\nseed = 1', r"Cannot overwrite a value \(at line 3"),
        ('name = "cup"\npolicy = "gomocup-fastgme"\n' + ROUND_ROBIN, "policy: .*did you mean 'gomocup-fastgame'"),
        (HEAD + 'change = ["clock.turn=3"]\n' + ROUND_ROBIN, "policy: .* unknown key 'clock.turn'; did you mean"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_fix(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        plan(tmp_path, text)

    said = str(refused.value)
    assert said.startswith(str(tmp_path / "contest.toml")), said
    assert re.search(sentence.replace("?", r"\?"), said), said


def test_games_have_an_order_where_folders_start_from_the_first_state(tmp_path: Path) -> None:
    text = HEAD + 'order = "lowest"\nchange = ["folders.round=first"]\n' + ROUND_ROBIN
    assert "lowest" == plan(tmp_path, text).plan.order


def test_missing_file_error_names_the_command_that_creates_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="judge contest init NAME --policy POLICY makes one"):
        load_plan(tmp_path)


def test_paths_are_from_the_file_s_own_folder(tmp_path: Path) -> None:
    """The folder's own agent hides the house agent of its name; what lies where the judge runs is not looked at."""
    (tmp_path / "house-strong").mkdir()
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\n[game]\nname = "gomoku"\noptions = { width = 15, height = 15 }\n'
    )
    agents = "".join(
        f'[[agents]]\npath = "{path}"\n' for path in ("house-strong", "house-instant", "../elsewhere", "pyproject.toml")
    )
    planned = plan(tmp_path, 'name = "cup"\npolicy = "mine.toml"\n' + ROUND_ROBIN + agents)

    assert "mine" == planned.policy.name
    assert [f"{tmp_path}/house-strong", "house-instant", f"{tmp_path}/../elsewhere", f"{tmp_path}/pyproject.toml"] == [
        agent.locate(planned.folder) for agent in planned.plan.agents
    ]


@pytest.mark.parametrize(
    ("store", "url"),
    [
        ("sqlite:///cup.db", "sqlite:///{folder}/cup.db"),
        ("sqlite:////var/cup.db", "sqlite:////var/cup.db"),
        ("postgresql+psycopg://h/cup", "postgresql+psycopg://h/cup"),
    ],
)
def test_store_file_is_in_the_folder(tmp_path: Path, store: str, url: str) -> None:
    planned = plan(tmp_path, HEAD + f'store = "{store}"\n' + ROUND_ROBIN)

    assert url.format(folder=tmp_path) == planned.store_url


def test_openings_are_read_with_the_board_and_options_of_the_policy(tmp_path: Path) -> None:
    (tmp_path / "openings.txt").write_text("h8i9\n\n# the second\n0,0, 1,1, 2,2\n")
    openings = ROUND_ROBIN + '[openings]\nfile = "openings.txt"\n'
    expected = [((7, 7), (8, 8)), ((10, 10), (11, 11), (12, 12))]
    assert expected == plan(tmp_path, HEAD + openings).openings()

    (tmp_path / "openings.txt").write_text("a1a3b1c3c1e3d1g3e1\n")
    with pytest.raises(InputError, match=r"line 1: .e1.: stone 9 of the opening: .*5 in a row"):
        plan(tmp_path, HEAD + openings).openings()
    change = 'change = ["game.options.continuous=true"]\n'
    assert 9 == len(plan(tmp_path, HEAD + change + openings).openings()[0])


@pytest.mark.parametrize("table", ['file = "openings.txt"', "transform = true"])
def test_a_game_without_stones_has_no_openings(tmp_path: Path, table: str) -> None:
    text = 'name = "cup"\npolicy = "stratego-seed"\n' + ROUND_ROBIN + f"[openings]\n{table}\n"

    with pytest.raises(InputError, match="stratego does not support opening positions"):
        plan(tmp_path, text).openings()
