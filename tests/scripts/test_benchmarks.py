"""Measurements end, name their figures, and compare them with former ones. How fast a host is, no test asserts."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from judge.base.errors import HostError, InputError
from judge.contest.host_setup import slot_alone
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.play.venue import Slot
from judge.sandbox.machine.cores import available
from scripts.benchmarks import cluster, contest, crowd, ladder, ladder_page, large, live, service, start, tables
from scripts.benchmarks.against import compare, read_figures
from scripts.benchmarks.measuring import SHORT, Bench, Figure, figure_of
from tests.examples import evidence


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(Slot(), tmp_path, {})


@pytest.fixture
def bench_in_containers(tmp_path: Path) -> Iterator[Bench]:
    build_house_agents()
    build_images(["native"])
    before = available()
    with slot_alone("docker", print) as slot:
        yield Bench(slot, tmp_path, {})
    os.sched_setaffinity(0, before)


MEASUREMENTS: Mapping[str, tuple[Callable[[Bench], Iterable[Figure]], dict[str, object]]] = {
    "large tables": (tables.large_tables, {"tables.SIZES": (1300, 2500)}),
    "games a minute": (contest.rate, {"contest.RUNS": 1, "contest.GAMES": 2}),
    "commands of large contests": (
        lambda bench: large.large(replace(bench, sizes=(3,))),
        {"large.AGENTS": 2, "large.COMMANDS": large.COMMANDS[-2:]},
    ),
    "a crowd": (crowd.crowd, {"crowd.GAMES": 3, "crowd.BEGINNING": 3, "crowd.SLEEP_MS": 20}),
    "clients of a service": (
        lambda bench: service.clocks(bench, available()),
        {"service.RUNS": 1, "service.CLIENTS": 2, "service.CHANGES": SHORT},
    ),
    "scheduling of many workers": (
        cluster.scheduling,
        {"large.AGENTS": 3, "cluster.SIMULATED": (4,), "cluster.SHORTEST_S": 0.25},
    ),
}
"""By name, measurements with their constants for a short run."""


@evidence
@pytest.mark.docker
@pytest.mark.parametrize("name", MEASUREMENTS)
def test_measurement_has_named_figures(name: str, bench_in_containers: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    measure, constants = MEASUREMENTS[name]
    for constant, value in constants.items():
        monkeypatch.setattr(f"scripts.benchmarks.{constant}", value)

    figures = list(measure(bench_in_containers))

    assert 2 <= len({figure.name for figure in figures})
    assert figures[-1].value > 0


@evidence
@pytest.mark.docker
def test_each_step_of_start_and_end_is_measured(bench_in_containers: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "RUNS", 1)
    monkeypatch.setattr(start, "ROUNDS", 1)
    called = {name: getattr(owner, call) for name, (owner, call) in start.STEPS.items()}

    figures = {figure.name: figure for figure in start.start(bench_in_containers)}

    parts = sum(figure.value for name, figure in figures.items() if name.startswith("start: "))
    assert pytest.approx(figures["start, created to OK"].value) == parts
    assert all(figures[name].value > 0 for name in start.STEPS)
    assert called == {name: getattr(owner, call) for name, (owner, call) in start.STEPS.items()}


PEER = """#!/usr/bin/env python3
import sys, time
games = int(sys.argv[sys.argv.index("-games") + 1])
{does}
"""


def a_peer(bench: Bench, does: str) -> Bench:
    """A measurement with a peer that does something with the number of its `games`."""
    build_house_agents()
    program = bench.staging / "peer"
    program.write_text(PEER.format(does=does))
    program.chmod(0o755)
    return Bench(bench.slot, bench.staging, {"c-gomoku-cli": str(program)})


PLAYS = """
time.sleep(games / 1000)
for game in range(1, games + 1):
    print(f"Finished game {game} (a vs b)")
    print(f"Score of a vs b: 1 - 0 - {game - 1}  [0.500] {game}")
"""


@evidence
@pytest.mark.slow
def test_a_peer_that_played_all_games_is_timed(bench: Bench) -> None:
    """Its start-up is subtracted: half a second here."""
    game_s = a_peer(bench, "time.sleep(0.5)" + PLAYS).peer_game_s()

    assert game_s is not None
    assert 0 < game_s < 0.002


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("games = 1" + PLAYS, "was asked for 402 games and says that it played 1"),
        ("pass", "was asked for 402 games and says that it played 0"),
        ("print(f'Score of a vs b: 1 - 0 - 0  [1.000] {games}')", "counts 402 games, and 1 results of them"),
        ("sys.exit('no such engine')", "ended with code 1: no such engine"),
        (PLAYS + "time.sleep((402 - games) / 500)", "took no longer for 402 games than for 2"),
    ],
)
@pytest.mark.slow
def test_a_peer_that_did_not_play_them_is_not_timed(bench: Bench, does: str, why: str) -> None:
    with pytest.raises(HostError, match=f"^c-gomoku-cli {why}$"):
        a_peer(bench, does).peer_game_s()


def test_regressions_from_a_former_run_are_reported(tmp_path: Path) -> None:
    """Ratios where there is a limit: this host is twice as slow, and the start no worse."""
    before = (
        figure_of("start", [80.0, 82.0, 81.0], "ms", [160.0, 160.0, 160.0]),
        figure_of("games", [300.0, 310.0, 305.0], "games/min"),
        figure_of("noisy", [1.0, 9.0, 5.0], "us"),
        Figure("once", 7.0, "ms"),
    )
    path = tmp_path / "before.json"
    path.write_text(json.dumps([asdict(figure) for figure in before]))
    now = (
        figure_of("start", [160.0, 170.0, 162.0], "ms", [320.0, 320.0, 330.0]),
        figure_of("games", [290.0, 280.0, 295.0], "games/min"),
        figure_of("noisy", [8.0, 12.0, 11.0], "us"),
        Figure("once", 9.0, "ms"),
        figure_of("new", [1.0], "ms"),
    )

    changes = {change.name: change for change in compare(read_figures(path), now)}

    assert {"start": False, "games": True, "noisy": False} == {name: each.is_worse for name, each in changes.items()}
    assert not any(change.is_better for change in changes.values())


@pytest.mark.parametrize("text", ["", "{}", '[{"name": "start"}]', '[{"name": "a", "value": "much", "unit": "ms"}]'])
def test_unprinted_text_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "before.json"
    path.write_text(text)

    with pytest.raises(InputError, match=re.escape(str(path))):
        read_figures(path)


def test_running_games_are_followed_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "FOLLOWED_GAMES", 3)
    move, memory, threads = live.followed_games()

    assert move.value > 0
    assert ("KiB", 0.0) == (memory.unit, threads.value)


def test_ladder_page_measures_computed_and_stored_ratings(tmp_path: Path) -> None:
    figures = list(ladder_page.measure(tmp_path / "ladder", 9, 600))

    assert ["ladder, loading", "ladder, computed ratings", "ladder, stored ratings"] == [each.name for each in figures]
    assert (tmp_path / "ladder" / "ladder.ratings").is_file()


def test_ladder_measures_choices_and_results() -> None:
    figures = {figure.name: figure for figure in ladder.measure(20, 500, 30)}

    parts = ["choice of a pair, median", "choice of a pair, p99", "exact fit of all games"]
    parts += ["update after a result, median", "update after a result, p99"]
    assert {f"ladder, {part}" for part in parts} == set(figures)
    assert figures["ladder, choice of a pair, median"].limit == ladder.LIMIT_MS
