"""Measurements end, name their figures, and compare them with former ones. How fast a host is, no test asserts."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from judge.base.errors import HostError, InputError
from judge.contest.host_setup import slot_alone
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.play.venue import Slot
from judge.sandbox.machine.cores import available
from scripts.benchmarks import cluster as bench_cluster
from scripts.benchmarks import contest as bench_contest
from scripts.benchmarks import crowd as bench_crowd
from scripts.benchmarks import ladder as bench_ladder
from scripts.benchmarks import ladder_page as bench_ladder_page
from scripts.benchmarks import large as bench_large
from scripts.benchmarks import live as bench_live
from scripts.benchmarks import service as bench_service
from scripts.benchmarks import start as bench_start
from scripts.benchmarks import tables as bench_tables
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


@evidence
@pytest.mark.slow
def test_large_tables_are_measured(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_tables, "SIZES", (1300, 2500))

    figures = list(bench_tables.large_tables(bench))

    games = [f"standings of {count} games" for count in (1225, 2450, 2450)]
    assert [*games, "a game's share of it, 2450 against 1225 games"] == [figure.name for figure in figures]
    assert all(figure.value > 0 for figure in figures)


@evidence
@pytest.mark.docker
def test_games_a_minute_are_measured(bench_in_containers: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_contest, "RUNS", 1)
    monkeypatch.setattr(bench_contest, "GAMES", 2)

    ready, alone = bench_contest.rate(bench_in_containers)

    assert (ready.limit, None) == (alone.value, ready.peer)
    assert ready.value > 0


@evidence
@pytest.mark.docker
def test_each_step_of_a_start_and_an_end_is_measured(
    bench_in_containers: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_start, "RUNS", 1)
    monkeypatch.setattr(bench_start, "ROUNDS", 1)
    called = {name: getattr(owner, call) for name, (owner, call) in bench_start.STEPS.items()}

    figures = {figure.name: figure for figure in bench_start.start(bench_in_containers)}

    start = figures["start, created to OK"]
    parts = sum(figure.value for name, figure in figures.items() if name.startswith("start: "))
    assert pytest.approx(start.value) == parts
    assert all(figures[name].value > 0 for name in bench_start.STEPS)
    assert called == {name: getattr(owner, call) for name, (owner, call) in bench_start.STEPS.items()}


@evidence
@pytest.mark.docker
def test_commands_of_large_contests_are_measured(bench_in_containers: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_large, "AGENTS", 2)
    monkeypatch.setattr(bench_large, "COMMANDS", bench_large.COMMANDS[-2:])

    figures = {figure.name: figure for figure in bench_large.large(replace(bench_in_containers, sizes=(3,)))}

    assert figures["3 games: verify"].value > 0
    assert figures["3 games: export, disk"].value > 10


@evidence
@pytest.mark.docker
def test_a_crowd_plays_at_the_same_time(bench_in_containers: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_crowd, "GAMES", 3)
    monkeypatch.setattr(bench_crowd, "BEGINNING", 3)
    monkeypatch.setattr(bench_crowd, "SLEEP_MS", 20)

    figures = {figure.name: figure for figure in bench_crowd.crowd(bench_in_containers)}

    # All moves but those of before the last game began and after the first one was over.
    (answers,) = (int(name.rpartition(" ")[2]) for name in figures if "p99" in name)
    assert 0 < answers <= 3 * 144
    assert figures["3 games at once, the judge's CPU"].value > 0
    assert figures["3 games at once, the judge's memory"].value > 1


@evidence
@pytest.mark.docker
def test_clients_of_a_service_are_served_during_games(
    bench_in_containers: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_service, "RUNS", 1)
    monkeypatch.setattr(bench_service, "CLIENTS", 2)
    monkeypatch.setattr(bench_service, "CHANGES", SHORT)

    figures = list(bench_service.clocks(bench_in_containers, available()))

    # Each client sends an archive beside each of the two games, and every one is answered.
    assert re.fullmatch(r"clock error, p50 of 50, beside 2 clients \(\d+ requests, [2-4] uploads\)", figures[0].name)
    assert all(figure.value > 0 for figure in figures)


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
        (
            "print(f'Score of a vs b: 1 - 0 - 0  [1.000] {games}')",
            "counts 402 games, and 1 results of them",
        ),
        ("sys.exit('no such engine')", "ended with code 1: no such engine"),
        (
            PLAYS + "time.sleep((402 - games) / 500)",
            "took no longer for 402 games than for 2",
        ),
    ],
)
@pytest.mark.slow
def test_a_peer_that_did_not_play_them_is_not_timed(bench: Bench, does: str, why: str) -> None:
    with pytest.raises(HostError, match=f"^c-gomoku-cli {why}$"):
        a_peer(bench, does).peer_game_s()


BEFORE = (
    figure_of("start", [80.0, 82.0, 81.0], "ms", [160.0, 160.0, 160.0]),
    figure_of("games", [300.0, 310.0, 305.0], "games/min"),
    figure_of("noisy", [1.0, 9.0, 5.0], "us"),
    Figure("once", 7.0, "ms"),
)


def test_regressions_from_a_former_run_are_reported(tmp_path: Path) -> None:
    """Ratios where there is a limit: this host is twice as slow, and the start no worse."""
    path = tmp_path / "before.json"
    path.write_text(json.dumps([asdict(figure) for figure in BEFORE]))
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


@evidence
@pytest.mark.docker
@pytest.mark.slow
def test_the_scheduling_of_many_workers_is_measured(
    bench_in_containers: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_large, "AGENTS", 3)
    monkeypatch.setattr(bench_cluster, "SIMULATED", (4,))
    monkeypatch.setattr(bench_cluster, "SHORTEST_S", 0.25)

    figures = list(bench_cluster.scheduling(bench_in_containers))

    assert [
        f"{contest} with games of 0.25 s: {quantity}"
        for contest in ("4 simulated workers", "ladder of 4 agents on 4 simulated workers")
        for quantity in (
            "games",
            "scheduler, CPU",
            "contest, CPU",
            "checks of records, CPU",
            "scheduler and contest",
        )
    ] == [figure.name for figure in figures]
    assert {16} == {figure.limit for figure in figures if figure.name.endswith("games")}
    assert all(figure.value > 0 for figure in figures)


def test_running_games_are_followed_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_live, "FOLLOWED_GAMES", 3)
    move, memory, threads = bench_live.followed_games()

    assert move.value > 0
    assert ("KiB", 0.0) == (memory.unit, threads.value)


def test_ladder_page_measures_computed_and_stored_ratings(tmp_path: Path) -> None:
    figures = list(bench_ladder_page.measure(tmp_path / "ladder", 9, 600))

    assert ["ladder, loading", "ladder, computed ratings", "ladder, stored ratings"] == [each.name for each in figures]
    assert (tmp_path / "ladder" / "ladder.ratings").is_file()


def test_ladder_measures_choices_and_results() -> None:
    figures = {figure.name: figure for figure in bench_ladder.measure(20, 500, 30)}

    assert set(figures) == {
        "ladder, choice of a pair, median",
        "ladder, choice of a pair, p99",
        "ladder, update after a result, median",
        "ladder, update after a result, p99",
        "ladder, exact fit of all games",
    }
    assert figures["ladder, choice of a pair, median"].limit == bench_ladder.LIMIT_MS
