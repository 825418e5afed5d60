"""A cup's leagues are processes, which a signal can reach at any moment."""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.contest.run_lock import alone
from judge.contest.run_process import start_run
from judge.cup.plan import load_cup
from judge.cup.run import CupRun, LeagueEnd
from judge.cup.verify import verify_cup
from judge.store.contests import Store
from judge.transparency.keys import make_key
from tests.contests import steady_clock
from tests.cup.test_plan import HEAD, ONE, entry, plan
from tests.publish.public import Public
from tests.verify.test_cups import LEAGUE, add_head, play, publish_cup, write_cup


@pytest.mark.parametrize("moment", ["before it is listed", "before it receives signals", "after it receives signals"])
def test_league_interrupted_at_start_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    said: list[str] = []
    with CupRun(plan(tmp_path, HEAD + ONE), [], said.append) as cup:

        def interrupted(path: Path, arguments: list[str], *, dies_with_parent: bool) -> subprocess.Popen[bytes]:
            process = start_run(path, arguments, dies_with_parent=dies_with_parent)
            if moment != "before it is listed":
                cup._processes["one"] = process
            while moment == "after it receives signals" and blocks_interrupts(process.pid):
                time.sleep(0.001)
            cup.stop()
            return process

        monkeypatch.setattr("judge.cup.run.start_run", interrupted)
        ends = cup.run()

    assert {"one": LeagueEnd.STOPPED} == ends, said
    assert "one: stopped" == said[-1]


def blocks_interrupts(pid: int) -> bool:
    """Whether SIGINT waits until a process unblocks it."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    blocked = next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:"))
    return bool(int(blocked, 16) >> (signal.SIGINT - 1) & 1)


ROUND_ROBIN = LEAGUE.format("below", 'name = "round-robin", games = 2', "medals = false")
SWISS = LEAGUE.format("below", 'name = "swiss", rounds = 2', "medals = false")
ABOVE = LEAGUE.format("cup", 'name = "round-robin", games = 2', 'after = "below"\npromoted = 1')
STARTER = str(Path(__file__).parents[2] / "images/starter-gomocup-python")
ENTRIES = "".join(
    entry(name, league).replace("house-instant", STARTER)
    for name, league in [("bert", "below"), ("dora", "below"), ("-carl", "below"), ("anna", "cup")]
)

Order = Callable[[Store], object]


def run_with_order(folder: Path, below: str, order: Order, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a cup whose league `below` is over and whose league `cup` is played by another process; at the report of this
    give an order to the league below, and end that process. Return the leagues that were started.
    """
    write_cup(folder, f'name = "spring"\n{below}{ABOVE}{ENTRIES}')
    with steady_clock():  # the games, so the table, depend on the moment of the draw
        play(folder, "below", "bert dora -carl")
    add_head(folder)
    cup = load_cup(folder)
    cup.announce()
    started: list[str] = []

    def start(path: Path, arguments: list[str], *, dies_with_parent: bool) -> subprocess.Popen[bytes]:
        started.append(path.parent.name)
        return subprocess.Popen(["true"])

    monkeypatch.setattr("judge.cup.run.start_run", start)
    with ExitStack() as other:
        other.enter_context(alone(load_plan(folder / "cup")))

        def report(sentence: str) -> None:
            if "plays it" in sentence:
                with closing(open_store(load_plan(folder / "below"))) as store:
                    order(store)
                other.close()

        with CupRun(cup, [], report) as run:
            run.run()
    return started


@pytest.mark.parametrize(
    ("below", "order"),
    [
        (ROUND_ROBIN, lambda store: store.disqualify("spring-below", "bert", "it broke a rule")),
        (SWISS, lambda store: store.withdraw("spring-below", "bert", "no time", is_annulled=False)),
    ],
    ids=["disqualified", "withdrawn"],
)
def test_agents_advance_by_the_table_at_the_start_of_the_league_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str, order: Order
) -> None:
    public = Public(tmp_path, make_key(tmp_path / "organiser.key"))

    assert ["cup"] == run_with_order(tmp_path, below, order, monkeypatch)

    agents = [agent.name for agent in load_plan(tmp_path / "cup").plan.agents]
    assert ["anna", "-carl"] == agents
    shutil.rmtree(tmp_path / "cup")  # the secret of a player of these tests is fixed
    play(tmp_path, "cup", " ".join(agents))
    publish_cup(tmp_path, public)
    report = verify_cup(public.directory, public.public_key)
    assert ([], []) == (report.problems, report.decisions)


def test_league_with_an_annulled_game_is_played_again_before_the_league_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def annul(store: Store) -> None:
        store.annul(store.games("spring-below")[0].id, "the wrong opening file")

    assert ["below"] == run_with_order(tmp_path, ROUND_ROBIN, annul, monkeypatch)
