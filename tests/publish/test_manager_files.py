"""A contest in the files of GomocupJudge: what its own tools, and ours, read again."""

import math
import re
from pathlib import Path

import pytest

from judge.catalog.managers import contest_manager
from judge.errors import InputError
from judge.publish.load import load_store
from judge.publish.manager_files import write_for_manager
from judge.records.gomoku.formats import GOMOKU_FORMATS
from judge.records.gomoku.piskvork import safe_name
from judge.statistics.ratings import GOMOCUP_MODEL, rate
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
    write_for_manager(opened_cup.contest, contest_manager("gomocup"), folder)
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


def test_a_game_says_what_our_record_says(opened_cup: Cup, written: Path) -> None:
    agents = [entry.name for entry in opened_cup.contest.snapshot.entries]
    for match in load_store(opened_cup.contest).matches:
        assert match.result is not None
        black, white = agents.index(match.first), agents.index(match.second)
        winner = {None: 0, match.first: 1, match.second: 2}[match.result.winner]
        number = match.game // 2
        movers = (black, white) if number == 0 else (white, black)
        path = written / f"{number}_{movers[0]}_{movers[1]}_{winner}.psq"
        (game,) = GOMOKU_FORMATS.read(path.read_bytes(), path.name)

        assert (safe_name(f"{match.first}.zip"), safe_name(f"{match.second}.zip")) == game.names
        assert {0: "draw", 1: "black", 2: "white"}[winner] == game.outcome
        assert opened_cup.contest.name == game.event
        assert 2 + number == game.opening


def test_the_state_names_the_player_who_moves_first_after_the_opening(opened_cup: Cup, written: Path) -> None:
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
    results = opened_cup.contest.results()
    agents = [entry.name for entry in opened_cup.contest.snapshot.entries]
    assert {agents.index(name): sum(r.winner == name for r in results) for name in agents} == wins


def test_the_pgn_has_each_result_from_the_side_of_who_moves_first(opened_cup: Cup, written: Path) -> None:
    games = GOMOKU_FORMATS.read((written / "result.pgn").read_bytes(), "result.pgn")
    agents = [entry.name for entry in opened_cup.contest.snapshot.entries]
    points = dict.fromkeys((f"{number}#{name}" for number, name in enumerate(agents)), 0.0)
    for game in games:
        assert game.names is not None
        for name, won in zip(game.names, ("black", "white"), strict=True):
            points[name] += 1.0 if game.outcome == won else 0.5 if game.outcome == "draw" else 0.0

    expected = dict.fromkeys(agents, 0.0)
    for result in opened_cup.contest.results():
        for name, score in zip(result.agents, result.scores, strict=True):
            expected[name] += score
    assert expected == {name.partition("#")[2]: score for name, score in points.items()}


def test_the_tables_rank_by_gomocups_own_rating(opened_cup: Cup, written: Path) -> None:
    rated = rate(opened_cup.contest.results(), GOMOCUP_MODEL).ratings
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


def test_a_contest_that_is_not_over_is_written_as_far_as_it_is(cup: Cup, tmp_path: Path) -> None:
    """Five agents, of which one crashes: its losses are errors."""
    write_for_manager(cup.contest, contest_manager("gomocup"), tmp_path / "result")
    crashed = sum("crash" in result.faults for result in cup.contest.results())
    errors = re.findall(r"errors: ([0-9]+)", (tmp_path / "result/_result.txt").read_text())

    assert crashed == sum(map(int, errors)) > 0
    with pytest.raises(InputError, match="exists; an export is never overwritten"):
        write_for_manager(cup.contest, contest_manager("gomocup"), tmp_path / "result")


def test_an_unknown_manager_is_named_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match=r"no manager of contests is called 'gomocop'.*gomocup"):
        contest_manager("gomocop")
