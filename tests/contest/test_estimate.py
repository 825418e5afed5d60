"""Before a contest: how many games and hours it has, and everything that is missing, at once."""

import json
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from typer.testing import CliRunner

from judge.agents.agents import stage_agent
from judge.agents.store import AgentStore
from judge.base.errors import HostError
from judge.cli import app
from judge.contest.entries import equal_files, intake_directory
from judge.contest.estimate import ContestEstimate, estimate_contest, expected_game_s, longest_game_s
from judge.contest.host_setup import make_ready
from judge.contest.plan import load_plan
from judge.record.policy import load_policy, shortest_turn_ms
from judge.sandbox.docker import requirements
from judge.store.types import ProcessingResult, Upload

pytestmark = pytest.mark.docker  # an estimate says which images are missing

FASTGAME = 'name = "cup"\npolicy = "gomocup-fastgame"\n'
AT_ONCE = 'change = ["folders.temporary=false", "folders.persistent=false"]\n'
"""Folders that are kept let an agent's games wait for each other."""

GAME_S = 2 * (120 + 1 + 1)
"""Two clocks of 120 s, each with a second of tolerance and one for the goodbye."""


def estimate_plan(folder: Path, text: str, agents: int = 0) -> ContestEstimate:
    for number in range(1, agents + 1):
        text += f'\n[[agents]]\npath = "house-instant"\nname = "a{number}"\n'
    path = folder / "contest.toml"
    path.write_text(text)
    return estimate_contest(load_plan(path))


def test_agents_of_which_no_passed_check_is_known_are_named(tmp_path: Path) -> None:
    """Listed ones and those that were approved in spite of the check; not house agents, nor those that passed."""
    (tmp_path / "mine").write_bytes(b"#!/usr/bin/env python3\n")
    (tmp_path / "mine").chmod(0o755)
    text = f'{FASTGAME}[format]\nname = "round-robin"\n[[agents]]\npath = "mine"\n'
    path = tmp_path / "contest.toml"
    path.write_text(text)
    directory = intake_directory(load_plan(path))
    with TemporaryDirectory() as staging, closing(directory.register()) as register:
        agent = stage_agent("house-instant", Path(staging))
        AgentStore(directory.agents).put(agent.program)
        program = {"program": agent.digest, "executables": []}
        described = json.dumps({"manifest": agent.manifest.model_dump(mode="json"), **program})
        for name, refusal in (("good", ""), ("poor", "it is slow")):
            upload = Upload("ada", name, "a.zip", "a" * 64, 100)
            number = register.receive(upload, None, "w").id
            register.finish(number, 1, ProcessingResult(refusal, name, agent.digest, described, None, None))
        register.approve(number, "organiser", "looks well")

    found = estimate_plan(tmp_path, text, 1)
    assert ["mine", "a1", "good", "poor"] == found.agents
    assert ["mine", "poor"] == found.unchecked


@pytest.mark.parametrize(
    ("format_", "agents", "games", "rounds", "is_exact"),
    [
        ('"round-robin"\ncycles = 2', 5, 40, 10, True),
        ('"double-round-robin"', 4, 24, 6, True),
        ('"gauntlet"\nchallengers = 2', 6, 16, 4, True),
        ('"swiss"\nrounds = 3\ngames = 4', 7, 36, 3, True),
        ('"knockout"', 6, 10, 3, False),
        ('"groups"\ngroups = 2\npromoted = 2', 6, 24, 6, True),
        ('"leagues"\nsizes = [3, 2]\npromoted = 1', 6, 18, 6, True),
        ('"sprt"\nrounds = 3', 2, 6, 3, False),
    ],
)
def test_games_and_rounds_of_each_format(
    tmp_path: Path, format_: str, agents: int, games: int, rounds: int, is_exact: bool
) -> None:
    found = estimate_plan(tmp_path, f"{FASTGAME}{AT_ONCE}[format]\nname = {format_}", agents)

    assert (games, rounds, is_exact) == (found.games, found.rounds, found.is_exact)
    assert [f"a{number}" for number in range(1, agents + 1)] == found.agents
    assert found.hours(1, found.longest_s) == pytest.approx(games * GAME_S / 3600)


@pytest.mark.parametrize(
    ("text", "agents", "slots", "games_one_after_another"),
    [
        # All may be played at once.
        (AT_ONCE + '[format]\nname = "round-robin"', 4, 5, 3),
        # A round waits for the one before it: three rounds of four games.
        (AT_ONCE + '[format]\nname = "swiss"\nrounds = 3', 4, 3, 6),
        # The pairings of a sequential test do not wait for each other.
        (AT_ONCE + '[format]\nname = "sprt"\nrounds = 9', 2, 6, 3),
        # Two agents whose games wait for each other, however many slots there are.
        ('[format]\nname = "round-robin"\ngames = 10', 2, 8, 10),
        # Leagues wait for each other, and their rounds do not: one of six games and one of twelve.
        (AT_ONCE + '[format]\nname = "leagues"\nsizes = [3]\npromoted = 1', 6, 3, 6),
        # Three rounds of two pairings side by side, two games in each.
        ('[format]\nname = "round-robin"', 4, 8, 6),
        ('change = ["folders.round=first"]\n[format]\nname = "round-robin"', 4, 4, 3),
    ],
)
def test_hours_estimate_counts_parallel_games(
    tmp_path: Path, text: str, agents: int, slots: int, games_one_after_another: int
) -> None:
    found = estimate_plan(tmp_path, FASTGAME + text, agents)

    assert found.hours(slots, found.longest_s) == pytest.approx(games_one_after_another * GAME_S / 3600)


@pytest.mark.parametrize(
    ("control", "longest_s", "expected_s"),
    [
        # Each of 400 squares is an answer: 200 of each seat.
        ("60", 2 * 60, 2 * 60),
        ("60+1", 2 * (60 + 199), 2 * (60 + 39)),
        ("60d1", 2 * (60 + 200), 2 * (60 + 40)),
        ("40/60", 2 * 5 * 60, 2 * 60),
        ("60|3x1", 2 * (60 + 2 + 200), 2 * (60 + 2 + 40)),
        ("60|10/5", 2 * (60 + 20 * 5), 2 * (60 + 4 * 5)),
        ("@1", 2 * 200, 2 * 40),
        ("60,30", 90, 90),
        ("40/60:20", 2 * (60 + 20), 2 * 60),
        ("30/60+1:20+2", 2 * (60 + 30 + 20 + 169 * 2), 2 * (60 + 30 + 20 + 9 * 2)),
        ("20/60:10/5", 2 * (60 + 18 * 5), 2 * (60 + 2 * 5)),
        ("20/60|1x2", 2 * (60 + 180 * 2), 2 * (60 + 20 * 2)),
    ],
)
def test_a_time_control_has_a_longest_and_an_expected_time(control: str, longest_s: int, expected_s: int) -> None:
    exact = ["clock.tolerance_ms=0", "clock.start_ms=1", "clock.close_ms=0"]
    policy = load_policy("gomocup-fastgame", exact, clock=control)
    longest = longest_game_s(policy)

    assert longest is not None
    assert longest_s <= longest <= longest_s * 1.2 + 2
    assert expected_s == expected_game_s(policy)


def test_time_of_a_contest_is_that_of_the_agents_with_most_time(tmp_path: Path) -> None:
    text = FASTGAME + 'change = ["clock.control=60", "clock.tolerance_ms=0"]\n'
    plain = estimate_plan(tmp_path, text + '[format]\nname = "round-robin"', 2)
    odds = estimate_plan(
        tmp_path, text + '[clocks]\nnobody = "9"\na = "600"\nb = "300"\n[format]\nname = "round-robin"', 2
    )

    assert plain.longest_s is not None
    assert (plain.longest_s + 2 * 540, 1200) == (odds.longest_s, odds.expected_s)
    assert f"{tmp_path / 'contest.toml'}, line 5: clocks names nobody, which does not take part" in odds.missing
    # The shortest turn is that of the agent with least time.
    policy = load_policy("gomocup-fastgame", clock="60,@30")
    assert 30_000 == shortest_turn_ms(policy, {})
    assert 50 == shortest_turn_ms(policy, {"a": "600", "b": "0.05", "c": "@1"})


def test_hours_are_unknown_without_a_game_clock(tmp_path: Path) -> None:
    text = 'name = "cup"\npolicy = "qchess-seed"\n[format]\nname = "round-robin"'

    found = estimate_plan(tmp_path, text, 2)
    assert None is found.hours(1, found.longest_s)


@pytest.mark.parametrize(("format_", "most"), [('"round-robin"', 1000), ('"swiss"\nrounds = 3', 500)])
@pytest.mark.parametrize("agents", [0, 1])
def test_too_few_agents_are_reported(tmp_path: Path, format_: str, most: int, agents: int) -> None:
    found = estimate_plan(tmp_path, f"{FASTGAME}[format]\nname = {format_}", agents)

    assert 0 == found.games
    assert f"needs 2 to {most} agents, in [[agents]] or submitted; there are {agents}" in found.missing[0]


def test_all_missing_parts_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\n[game]\nname = "gomoku"\noptions = { width = 15, height = 15 }\n'
        '[runtimes]\nold = "judge-test/not-there:1"\n[points]\nwin = [1, 0]\ndraw = [0.5, 0.5]\n'
    )
    (tmp_path / "openings.txt").write_text("h8\nh8h8\n")
    for name, runtime in (("old", "old"), ("lost", "nowhere")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "agent.toml").write_text(f'name = "{name}"\ncommand = ["./a"]\nruntime = "{runtime}"\n')
    names = ("house-instant", "house-instant", "gone", "old", "lost")
    agents = "".join(f'[[agents]]\npath = "{name}"\n' for name in names)
    head = 'name = "cup"\npolicy = "mine.toml"\n[format]\nname = "round-robin"\n'

    found = estimate_plan(tmp_path, f'{head}[openings]\nfile = "openings.txt"\n{agents}')

    parts = [
        f"there is no file or directory '{tmp_path}/gone'",
        "'house-instant' in [[agents]] and 'house-instant' in [[agents]] are both called 'house-instant': give one",
        "can end with crash, foul, illegal",
        "openings.txt, line 2: 'h8'",
        "judge-test/not-there:1",
        "nowhere",
    ]
    for part in parts:
        assert 1 == sum(part in sentence for sentence in found.missing), (part, found.missing)
    assert ["house-instant", "house-instant", "old", "lost"] == found.agents
    assert 20 == found.games


def test_engine_whose_pipes_cannot_be_shared_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "host_obstacle", lambda *_: "the Engine does not see /tmp")
    found = estimate_plan(tmp_path, f'{FASTGAME}[format]\nname = "round-robin"\n', 2)
    said: list[str] = []
    with pytest.raises(HostError) as refused:
        make_ready("docker", load_policy("gomocup-fastgame"), [], said.append, turn_ms=0)

    assert [str(refused.value)] == list(found.missing)
    assert "each clock includes the Engine's delay: the Engine does not see /tmp" in str(refused.value)
    make_ready("docker", load_policy("gomocup-fastgame"), [], said.append)


def test_pairs_that_are_left_out_are_listed_with_their_ratings(tmp_path: Path) -> None:
    """Also of agents that are still to come; a rating set by hand has its reason."""
    (tmp_path / "ratings.csv").write_text("agent,rating\na1,2000\na2,1600\na3,1000\nlater,1500\n")
    text = (
        f'{FASTGAME}[format]\nname = "round-robin"\nskip.ratings = "ratings.csv"\n'
        'skip.agents.a3 = { rating = 0, reason = "rewritten" }\n[[agents]]\npath = "nowhere"\nname = "later"\n'
    )
    found = estimate_plan(tmp_path, text, 3)
    assert 1 == len(found.missing)
    assert [("a1", "a2", 2000, 1600), ("a1", "later", 2000, 1500)] == sorted(
        (pair.first, pair.second, pair.first_rating, pair.second_rating) for pair in found.left_out
    )
    assert (8, 4) == (found.games, found.games_saved)
    assert ("rewritten", "ratings.csv, line 2") == (found.ratings["a3"].reason, found.ratings["a1"].reason)


def test_games_of_leagues_with_ratings_are_not_exact(tmp_path: Path) -> None:
    skip = "skip.agents.a1 = { rating = 2000, reason = 'x' }\nskip.agents.a4 = { rating = 1000, reason = 'x' }\n"
    text = f'{FASTGAME}[format]\nname = "leagues"\nsizes = [2]\npromoted = 2\n{skip}'
    found = estimate_plan(tmp_path, text, 5)
    assert (False, 16, 2) == (found.is_exact, found.games, found.games_saved)
    found = estimate_plan(tmp_path, text.replace("promoted = 2", "promoted = 2\nskip.groups = ['2']"), 5)
    assert found.is_exact


def test_plan_prints_ratings_and_pairs(tmp_path: Path) -> None:
    skip = (
        "skip.agents.a1 = { rating = 2000, reason = 'last year' }\nskip.agents.a2 = { rating = 1000, reason = 'x' }\n"
    )
    estimate_plan(tmp_path, f'{FASTGAME}[format]\nname = "round-robin"\n{skip}', 3)
    shown = CliRunner().invoke(app, ["contest", "plan", str(tmp_path)])
    assert "  skipped  1 pair by their ratings: 2 games fewer\n" in shown.output
    assert "           a1: 2000 (last year); does not meet a2\n" in shown.output
    assert "           a3: no rating, meets all (no rating in format.skip.agents)\n" in shown.output
    found = json.loads(CliRunner().invoke(app, ["contest", "plan", str(tmp_path), "--json"]).stdout)
    assert {"rating": 2000.0, "reason": "last year"} == found["ratings"]["a1"]
    assert [["a1", "a2"]] == [[pair["first"], pair["second"]] for pair in found["left_out"]]


def test_agents_with_the_same_files_or_upload_are_named() -> None:
    agents = [("anna", {"d1", "u1"}), ("bob", {"d2"}), ("mine", {"d3", "u1"}), ("tk", {"d3"}), ("zoe", {"d4", "u4"})]

    assert ["anna, mine, tk have the same files"] == equal_files(agents)
    assert [] == equal_files(agents[:2])
