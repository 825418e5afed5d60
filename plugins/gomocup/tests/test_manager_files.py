"""A contest in the files of GomocupJudge: what its own tools, and ours, read again."""

import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.catalog.managers import MANAGERS, ContestComparison, DifferenceKind
from judge.cli import app
from judge.formats.gomoku.formats import GOMOKU_FORMATS
from judge.formats.gomoku.piskvork import safe_name
from judge.publish.export.manager_files import finished_contest, write_for_manager
from judge.statistics.rating_model import BAYESELO_MODEL
from judge.statistics.ratings import rate
from tests.publish.cups import SECRET, STRONG_TO_WEAK, Cup

OPENINGS = (((7, 7), (8, 8)), ((7, 7), (7, 8), (9, 6)))


@pytest.fixture(scope="module")
def opened_cup(tmp_path_factory: pytest.TempPathFactory) -> Cup:
    """Three agents; the second of two openings has an odd number of stones, so that white moves first."""
    cast = dict(list(STRONG_TO_WEAK.items())[:3])
    cup = Cup(tmp_path_factory.mktemp("opened"), cast, 'name = "round-robin"\ngames = 4', seed=7, openings=OPENINGS)
    cup.play()
    return cup


@pytest.fixture(scope="module")
def written(opened_cup: Cup, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "result"
    write_for_manager(opened_cup.contest, MANAGERS.entry("gomocup"), folder)
    return folder


def test_there_is_a_file_of_each_game_and_one_of_each_kind(opened_cup: Cup, written: Path) -> None:
    games = sorted(path.name for path in written.glob("*.psq"))

    assert 12 == len(games)
    assert {"message.txt", "state.txt", "result.pgn", "_result.txt", "_table.html"} == {
        path.name for path in written.iterdir() if path.suffix != ".psq"
    }
    # Each ordered pair plays each of the two openings.
    places = {tuple(map(int, re.findall(r"[0-9]+", name)[:3])) for name in games}
    assert {(r, a, b) for r in (0, 1) for a in range(3) for b in range(3) if a != b} == places


def test_converted_game_agrees_with_our_record(opened_cup: Cup, written: Path) -> None:
    agents = [entry.name for entry in opened_cup.contest.snapshot.entries]
    for published in opened_cup.contest.read().games:
        assert published.result is not None
        black, white = agents.index(published.first), agents.index(published.second)
        winner = {None: 0, published.first: 1, published.second: 2}[published.result.winner]
        number = published.leg // 2
        movers = (black, white) if number == 0 else (white, black)
        path = written / f"{number}_{movers[0]}_{movers[1]}_{winner}.psq"
        (game,) = GOMOKU_FORMATS.read(path.read_bytes(), path.name)

        assert (safe_name(f"{published.first}.zip"), safe_name(f"{published.second}.zip")) == game.names
        assert {0: "draw", 1: "black", 2: "white"}[winner] == game.outcome
        assert opened_cup.contest.name == game.event
        assert 2 + number == game.opening


def test_state_names_the_first_mover_after_the_opening(opened_cup: Cup, written: Path) -> None:
    lines = [line.split("\t") for line in (written / "state.txt").read_text().splitlines()]

    # In the order in which GomocupJudge plans them.
    assert "(0, 1, 0)" == lines[0][0]
    assert "(1, 0, 0)" == lines[1][0]
    assert ["(1, 2, 1)", "(2, 1, 1)"] == [line[0] for line in lines[-2:]]
    wins = {0: 0, 1: 0, 2: 0}
    for place, winner, *_ in lines:
        players = list(map(int, re.findall(r"[0-9]+", place)[:2]))
        if winner != "0":
            wins[players[int(winner) - 1]] += 1
    results = opened_cup.contest.view().results
    agents = [entry.name for entry in opened_cup.contest.snapshot.entries]
    assert {agents.index(name): sum(r.winner == name for r in results) for name in agents} == wins


def test_pgn_result_is_from_the_first_movers_side(opened_cup: Cup, written: Path) -> None:
    games = GOMOKU_FORMATS.read((written / "result.pgn").read_bytes(), "result.pgn")
    agents = [entry.name for entry in opened_cup.contest.snapshot.entries]
    points = dict.fromkeys((f"{number}#{name}" for number, name in enumerate(agents)), 0.0)
    for game in games:
        assert game.names is not None
        for name, won in zip(game.names, ("black", "white"), strict=True):
            points[name] += 1.0 if game.outcome == won else 0.5 if game.outcome == "draw" else 0.0

    expected = dict.fromkeys(agents, 0.0)
    for result in opened_cup.contest.view().results:
        for name, score in zip(result.agents, result.scores, strict=True):
            expected[name] += score
    assert expected == {name.partition("#")[2]: score for name, score in points.items()}


def test_the_tables_rank_by_gomocups_own_rating(opened_cup: Cup, written: Path) -> None:
    rated = rate(opened_cup.contest.view().results, BAYESELO_MODEL).ratings
    text = (written / "_result.txt").read_text()
    heads = re.findall(r"^([0-9]+)\. (\S+) (\S+)$", text, re.MULTILINE)

    assert [(str(n), r.agent, str(round(r.elo))) for n, r in enumerate(rated, 1)] == heads
    assert math.isclose(1600, sum(int(elo) for _, _, elo in heads) / 3, abs_tol=1)
    assert 3 == text.count("total games: 8\n")
    table = (written / "_table.html").read_text()
    assert all(f"<td>{name}</td><td>{elo}</td>" in table for _, name, elo in heads)
    assert 3 == table.count('class="dash"')


def test_messages_are_there_and_nothing_private(written: Path) -> None:
    said = (written / "message.txt").read_text()

    assert 12 == said.count("\n--> ")
    assert re.search(r"^\(3\) MESSAGE depth [0-9]+ ev -?[0-9]+\n[0-9]+ms$", said, re.MULTILINE)
    assert all(SECRET.encode() not in path.read_bytes() for path in written.iterdir())


def test_unfinished_contest_is_exported_as_far_as_played(cup: Cup, tmp_path: Path) -> None:
    """Five agents, of which one crashes: its losses are errors."""
    write_for_manager(cup.contest, MANAGERS.entry("gomocup"), tmp_path / "result")
    crashed = sum("crash" in result.faults for result in cup.contest.view().results)
    errors = re.findall(r"errors: ([0-9]+)", (tmp_path / "result/_result.txt").read_text())

    assert crashed == sum(map(int, errors)) > 0
    with pytest.raises(InputError, match="exists; an export is never overwritten"):
        write_for_manager(cup.contest, MANAGERS.entry("gomocup"), tmp_path / "result")


def test_an_unknown_manager_is_named_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match="no contest manager is called 'gomocop'; did you mean 'gomocup'"):
        MANAGERS.entry("gomocop")


def compared(cup: Cup, folder: Path) -> ContestComparison:
    manager = MANAGERS.entry("gomocup")
    assert manager.compare is not None
    return manager.compare(folder, finished_contest(cup.contest, manager))


@pytest.fixture
def theirs(written: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(written, tmp_path / "theirs"))


def edit(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_bytes("\r\n".join(change(path.read_text().splitlines())).encode())


def test_our_files_read_back_equal(opened_cup: Cup, cup: Cup, written: Path, tmp_path: Path) -> None:
    of_opened = compared(opened_cup, written)
    assert (12, 12, 12, 12, ()) == (
        of_opened.theirs, of_opened.ours, of_opened.aligned, of_opened.same, of_opened.differences
    )  # fmt: skip

    write_for_manager(cup.contest, MANAGERS.entry("gomocup"), tmp_path / "result")
    of_crashes = compared(cup, tmp_path / "result")
    assert of_crashes.theirs == of_crashes.same == len(cup.contest.view().results)


def test_different_answer_is_reported_with_the_stone(opened_cup: Cup, theirs: Path) -> None:
    path = next(theirs.glob("0_0_1_*"))
    edit(path, lambda lines: [*lines[:3], "1,15,99", *lines[4:]])
    found = [each for each in compared(opened_cup, theirs).differences if each.number]

    assert [(path.name, DifferenceKind.ANSWER)] == [(each.game, each.kind) for each in found]
    assert re.search(r"black answered a15 at GomocupJudge, \w+ here with stone 3;", found[0].text)


@pytest.mark.parametrize(
    ("end", "kind"),
    [(2, DifferenceKind.CLOCK), (4, DifferenceKind.BLAME), (1, DifferenceKind.RULE), (0, DifferenceKind.RULE)],
)
def test_game_that_ended_earlier_is_shown_with_its_end(
    end: int, kind: DifferenceKind, opened_cup: Cup, theirs: Path
) -> None:
    path = next(theirs.glob("0_0_1_*"))
    raw = int(path.stem[-1])
    edit(path, lambda lines: [*lines[:-5], *lines[-4:]])
    edit(theirs / "state.txt", lambda lines: [f"(0, 1, 0)\t{raw}\t{end}\t1\t1\t1\t1", *lines[1:]])
    found = [each for each in compared(opened_cup, theirs).differences if each.number]

    assert [(path.name, kind)] == [(each.game, each.kind) for each in found]


def test_time_verdicts_that_are_crashes_here_are_blame_differences(cup: Cup, tmp_path: Path) -> None:
    """Their manager waits for a program that has ended."""
    folder = tmp_path / "result"
    write_for_manager(cup.contest, MANAGERS.entry("gomocup"), folder)
    crashes = sum("crash" in result.faults for result in cup.contest.view().results)
    edit(folder / "state.txt", lambda lines: [re.sub(r"\t([12])\t4\t", r"\t\1\t2\t", line) for line in lines])
    found = compared(cup, folder).differences

    assert [DifferenceKind.BLAME] * crashes == [each.kind for each in found]
    assert all("on time" in each.text and "by a failure" in each.text for each in found)
    assert not any(each.changes_result for each in found)


def test_games_in_only_one_of_the_two_are_reported(opened_cup: Cup, theirs: Path) -> None:
    gone, moved = (next(theirs.glob(pattern)) for pattern in ("0_0_1_*", "0_1_2_*"))
    gone.unlink()
    edit(moved, lambda lines: [lines[0], "1,1,0", "2,1,0", *lines[3:]])
    found = [each for each in compared(opened_cup, theirs).differences if each.kind is DifferenceKind.OPENING]

    assert ["", moved.name, moved.name] == sorted(each.game for each in found)
    assert any("judge from h8i9" in each.text for each in found)


def test_the_command_prints_each_kind_and_takes_a_contest_that_has_not_begun(
    opened_cup: Cup, written: Path, tmp_path: Path
) -> None:
    done = CliRunner().invoke(app, ["contest", "compare", "gomocup", str(written), str(opened_cup.folder)])
    assert 0 == done.exit_code, done.output
    assert "12 of the same agents, colours and opening, 12 of these with the same moves and result" in done.stdout

    (tmp_path / "contest.toml").write_text((opened_cup.folder / "contest.toml").read_text())
    done = CliRunner().invoke(app, ["contest", "compare", "gomocup", str(written), str(tmp_path), "--json"])
    assert 0 == done.exit_code, done.output
    assert (12, 0) == (json.loads(done.stdout)["theirs"], json.loads(done.stdout)["ours"])

    done = CliRunner().invoke(app, ["contest", "export", str(tmp_path / "out"), str(opened_cup.folder), "--as=gomocup"])
    assert 0 == done.exit_code, done.output
    assert {path.name for path in written.iterdir()} == {path.name for path in (tmp_path / "out").iterdir()}
