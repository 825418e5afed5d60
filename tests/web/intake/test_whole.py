"""With the real gate and boxes: an archive goes in over a socket, an agent that may play comes out; practice games."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.agents.store import AgentStore
from judge.base.parsing import parse_json
from judge.base.procfs import children_of
from judge.base.scheduling import SERVICE_NICENESS
from judge.cli.submit import hosting
from judge.contest.host_setup import build_missing_images, place_on_host
from judge.contest_games import GameState
from judge.host.house_agents import build_house_agents
from judge.record.spec import RecordFile
from judge.referee.verify import verify
from judge.sandbox.machine.cores import CoreLocks
from judge.store.contests import Store
from judge.store.practice_games import PracticeGame, PracticeGames
from judge.store.types import EntryRow, TooMuchError, Upload
from judge.submissions.check import CheckReport, Grade
from judge.submissions.pipeline import OnStep, UploadJob, UploadOutcome
from judge.submissions.service import IntakeDirectory, agent_of, process_claimed
from judge.web.player.queues import BackgroundJobs, practice_jobs
from tests.cli.brains import packed_agent, write_brain
from tests.cli.conftest import orphans
from tests.examples import evidence
from tests.web.intake.conftest import POLL_INTERVAL_S, ended, make_contest, make_token, send, serving

pytestmark = pytest.mark.docker


@evidence
def test_archive_becomes_an_agent_or_reports_why_not(tmp_path: Path) -> None:
    desk = make_contest(tmp_path / "cup")
    brain = write_brain(tmp_path, "refuser", start="ERROR I have no board")
    with serving(desk, is_alone=False, without=()) as service, service.client(make_token(desk, "ada")) as ada:
        good = send(ada, packed_agent(tmp_path).read_bytes(), "mine.tar.gz", name="mine")
        bad = send(ada, Path(brain).read_bytes(), "refuser.py")
        found = ended(ada, good)
        assert ("passed", "mine", 1) == (found["state"], found["name"], found["version"])
        assert ["received", "unpacked", "built", "staged", "checked"] == [step["stage"] for step in found["steps"]]
        assert "refused" == ended(ada, bad)["state"]
        # Requests wait for games; the clocks of a check do not.
        nice = partial(os.getpriority, os.PRIO_PROCESS)
        checkers = [pid for server in children_of(service.process.pid) for pid in children_of(server)]
        assert SERVICE_NICENESS == nice(service.process.pid)
        assert nice(0) == min(map(nice, checkers))
        report = CheckReport.model_validate(ada.get(f"/submissions/{bad}/report").json())
    assert Grade.FAIL is report.grade
    assert "I have no board" in report.findings[0].evidence
    with closing(desk.register()) as register:
        agent = agent_of(desk, *register.entries())
    assert ("mine", "ada") == (agent.manifest.name, agent.manifest.author)
    assert "house-python" == agent.calls_itself(desk.policy)
    assert (agent.program / "house-python.py").is_file()
    assert agent.program.parent == desk.agents


SLOW = "practice_games = 1\npractice_s = 2\n"
"""So that its game takes some seconds: both agents think to the clock."""


def accepted(job: UploadJob, _tell: OnStep) -> UploadOutcome:
    """The strong house agent, whatever was sent."""
    staging = job.agents.parent / "staging"
    staging.mkdir()
    agent = stage_agent("house-strong", staging)
    manifest = agent.manifest.model_copy(update={"name": "mine"})
    return UploadOutcome(agent=replace(agent, manifest=manifest, program=AgentStore(job.agents).put(agent.program)))


@contextmanager
def on_all_cores() -> Iterator[None]:
    """Let this process go back to where it may run, whatever core a judge keeps it to."""
    affinity = os.sched_getaffinity(0)
    try:
        yield
    finally:
        os.sched_setaffinity(0, affinity)


@contextmanager
def playing(directory: IntakeDirectory) -> Iterator[tuple[PracticeGames, BackgroundJobs[bool]]]:
    """The practice games of what has just passed, while they are played."""
    with on_all_cores(), closing(directory.practice_games()) as games:
        _, host = hosting(directory, print)
        with practice_jobs(directory, host, games) as players:
            yield games, players


def passed(directory: IntakeDirectory) -> int:
    with closing(directory.register()) as register:
        digest = directory.files.put(b"x")
        taken = register.receive(Upload("ada", "mine", "mine.zip", digest, 1), worker="0" * 32)
        return process_claimed(directory, register, taken, accepted, practice=directory.intake.practice_games).id


def wait_for(games: PracticeGames, number: int, state: GameState, attempt: int) -> PracticeGame:
    """The first game of a submission, once it is in a state as an attempt or a later one."""
    while True:
        game = games.of(number, "ada")[-1]
        if game.state is state and game.attempt >= attempt:
            return game
        assert game.state is not GameState.HELD, game
        time.sleep(POLL_INTERVAL_S)


def test_practice_game_yields_its_slot_and_is_replayed_like_one_of_a_killed_worker(tmp_path: Path) -> None:
    build_house_agents()
    build_missing_images(["native", "keeper"], print)
    directory = make_contest(tmp_path / "cup", SLOW)
    number = passed(directory)
    with on_all_cores():
        slots = [core for cores in place_on_host().slots for core in cores]
    with playing(directory) as (games, players):
        first = wait_for(games, number, GameState.RUNNING, 1)
        wanted = CoreLocks(slots, print)
        waiting = threading.Thread(target=wanted.wait)
        waiting.start()
        waiting.join()
        found = games.get(first.id, "ada")
        assert (GameState.PENDING, 1, "it waits for a free slot") == (found.state, found.attempt, found.why)
        wanted.__exit__()

        wait_for(games, number, GameState.RUNNING, 2)
        (worker,) = [run.worker.pid or 0 for run in players.running]
        os.kill(worker, signal.SIGKILL)
        done = wait_for(games, number, GameState.DONE, 3)
        assert 0 == done.failures
        assert worker not in orphans().values()
    assert done.record is not None
    file = parse_json(RecordFile, directory.practice_records.get(done.record), "the record")
    assert {"mine", "house-instant"} == {seat.name for seat in file.record.seats}
    assert not verify(file).problems
    assert not (directory.folder / "files").exists()


def test_challenge_is_played_against_the_files_of_an_entry_with_the_clocks_of_the_contest(tmp_path: Path) -> None:
    build_house_agents()
    build_missing_images(["native", "keeper"], print)
    directory = make_contest(tmp_path / "cup", "practice_games = 0\n")
    number = passed(directory)
    staging = tmp_path / "staging"
    staging.mkdir()
    rival = stage_agent("house-instant", staging)
    AgentStore(directory.agents).put(rival.program)
    entry = json.dumps({"name": "rival", "seat": rival.seat(directory.policy).model_dump(mode="json")})
    with closing(Store(directory.store_url)) as store:
        store.create(directory.contest, "{}", [EntryRow("rival", 1, entry)])
        journal = store.journal(directory.contest)
        with playing(directory) as (games, _):
            games.challenge(number, "ada", "rival", 1)
            with pytest.raises(TooMuchError):
                games.challenge(number, "ada", "rival", 1)
            done = wait_for(games, number, GameState.DONE, 1)
        assert journal == store.journal(directory.contest)
        assert [] == store.games(directory.contest)
    assert ("rival", "house-instant") == (done.challenged, done.opponent)
    assert done.record is not None
    file = parse_json(RecordFile, directory.practice_records.get(done.record), "the record")
    assert directory.policy == file.record.spec.policy
    assert rival.digest in {seat.digest for seat in file.record.spec.seats}
    assert not verify(file).problems
