"""`kill -9` of a judge that plays a contest: nothing is lost, nothing counts twice, nothing is left."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory

import docker
import pytest

from judge.base.owner import DIRECTORY_PREFIX, kill_marked
from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.contest_games import GameState
from judge.record.spec import RecordFile, public_part
from judge.referee.verify import verify
from tests.cli.conftest import Judge
from tests.cli.contests import left, running, workers
from tests.cli.running import box_of
from tests.contest.racers import AT_ONCE, write_contest
from tests.examples import of_evidence, sized
from tests.faults.lives import POINTS
from tests.patience import PATIENCE_S
from tests.store.server import database

KILLS = sized(18, 50)
GAMES_OF_A_TABLE = sized(2, 4)

PLAN = f"""
name = "killed"
policy = "gomocup-freestyle"
change = [{AT_ONCE}]
seed = 5
store = "STORE"

[format]
name = "swiss"
games = {GAMES_OF_A_TABLE}
rounds = 5
"""
"""Of seven agents: three tables and a bye in each of five rounds."""

GAMES = 3 * 5 * GAMES_OF_A_TABLE
"""More than the lives can end."""

SEVEN = (0, 0, 1, 1, 2, 3, 4)
"""Racers of which two and two are alike."""

ROUNDS = ("round is to be scheduled", "round is scheduled")

FIRST = ("file is copied", "file is copied#15", "agent is kept", "agent is kept#2", "contest is created", ROUNDS[0])
"""Where lives end before the first game. The racers have 14 files: the next is that of an agent that is kept."""

ENTRIES = ("agent is to enter", "agent is entered")

IN_A_GAME = sorted(POINTS.keys() - {*FIRST, *ROUNDS, *ENTRIES})


def seeded() -> random.Random:
    """A generator whose seed is shown where a test fails: with `JUDGE_TEST_SEED`, it is tried again."""
    seed = int(os.environ.get("JUDGE_TEST_SEED") or random.SystemRandom().randrange(10**6))
    print(f"JUDGE_TEST_SEED={seed}")  # noqa: T201
    return random.Random(seed)


class Lives:
    """A process that begets judges, see `lives`; all that comes of it bears a mark, and has its own temporary files."""

    def __init__(self, folder: Path, temporary: Path) -> None:
        self.temporary = temporary
        self._mark = f"JUDGE_TEST_LIVES={folder}"
        name, _, value = self._mark.partition("=")
        self._mother = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.lives"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # what was read is not in a buffer, so select() reports the rest
            env={**os.environ, name: value, "TMPDIR": str(self.temporary)},
        )

    def begin(self, folder: Path, *points: str) -> int:
        """Let a judge go on with the contest of a folder, to the first of `points`; its process id."""
        assert self._mother.stdin
        self._mother.stdin.write(("\t".join((str(folder), *points)) + "\n").encode())
        return int(self._line().removeprefix("born "))

    def first_game(self, patience_s: float | None = None) -> int | None:
        """Wait until a game has ended, or for so long; the judge's exit code if it came to its own end before."""
        assert self._mother.stdout
        if not select([self._mother.stdout], [], [], patience_s)[0]:
            return None
        line = self._line()
        return int(line.removeprefix("dead ")) if line.startswith("dead ") else None

    def end(self) -> int:
        """Wait for the judge's end: its exit code, the number of a signal below 0."""
        while not (line := self._line()).startswith("dead "):
            pass
        return int(line.removeprefix("dead "))

    def _line(self) -> str:
        assert self._mother.stdout
        line = self._mother.stdout.readline().decode()
        assert line, "the process that begets judges has died"
        return line

    def forget(self) -> None:
        """Let an hour pass for the directories whose makers did not live to mark them: then they are rubbish."""
        for directory in self.temporary.iterdir():
            if not (directory / "owner").exists():
                os.utime(directory, (0, 0))

    def left(self) -> list[str]:
        """The processes that are still there, as they were called; those that are about to die are waited for."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := self._processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return list(found.values())

    def close(self) -> None:
        assert self._mother.stdin
        assert self._mother.stdout
        self._mother.stdin.close()
        self._mother.wait()
        for process in self._processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._mother.stdout.close()

    def _processes(self) -> dict[int, str]:
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                is_marked = self._mark.encode() in (process / "environ").read_bytes()
                if is_marked and int(process.name) != self._mother.pid:
                    words = (process / "cmdline").read_bytes().split(b"\0")
                    found[int(process.name)] = b" ".join(words).decode(errors="replace")
        return found


@pytest.fixture
def lives(tmp_path: Path) -> Iterator[Lives]:
    """Its temporary files are on another disk than the contest."""
    with TemporaryDirectory(prefix="judge-test-", dir="/dev/shm") as temporary:
        made = Lives(tmp_path, Path(temporary))
        yield made
        made.close()
        for directory in made.temporary.glob(f"{DIRECTORY_PREFIX}*"):
            kill_marked(directory)  # as the next judge does, which some tests do not start


@pytest.fixture(params=["sqlite", *of_evidence("postgresql")])
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    with database(request.param) as url:
        yield url


@pytest.mark.long
def test_kills_lose_nothing_and_count_nothing_twice(lives: Lives, tmp_path: Path, store: str) -> None:
    """Some lives end where something is half done, the others at a moment by chance or between two rounds."""
    chance = seeded()
    undisturbed, killed = (
        write_contest(tmp_path / name, PLAN.replace("STORE", url), SEVEN)
        for name, url in (("whole", "sqlite:///contest.db"), ("killed", store))
    )
    lives.begin(undisturbed)
    assert 0 == lives.end()

    points = chance.sample(IN_A_GAME, len(IN_A_GAME))
    ends = [points[number // 2 % len(points)] if number % 2 else "" for number in range(KILLS - len(FIRST))]
    codes = [life(lives, killed, point) for point in FIRST]
    codes += [life(lives, killed, point, chance, ROUNDS[n // 2 % 2]) for n, point in enumerate(ends)]
    assert [-signal.SIGKILL] * KILLS == codes
    assert [] == lives.left()  # what is about to die may still make a directory
    lives.forget()
    lives.begin(killed)
    assert 0 == lives.end()

    with _opened(undisturbed) as one, _opened(killed) as other:
        is_whole(other, GAMES)
        other.check_agents()
        assert _told(one) == _told(other)
        assert one.store.pairings("killed") == other.store.pairings("killed")
        assert _table(one) == _table(other)
    assert [] == lives.left()
    assert [] == list(lives.temporary.iterdir())
    assert [] == list(killed.rglob("*.partial"))


def life(lives: Lives, folder: Path, point: str, chance: random.Random | None = None, *others: str) -> int:
    """A life that ends at a point, or by chance: before its first game has ended, or soon after. Its exit code.

    So it plays one game or two, on a host of whatever speed. It also ends at the first of `others`, such as between two
    rounds.
    """
    if point:
        lives.begin(folder, point, *others)
        return lives.end()
    assert chance
    pid = lives.begin(folder, *others)
    is_early = chance.random() < 0.5
    if (code := lives.first_game(chance.random() if is_early else None)) is not None:
        return code
    if not is_early:
        time.sleep(chance.random() / 10)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return lives.end()


@contextmanager
def _opened(folder: Path) -> Iterator[Contest]:
    planned = load_plan(folder)
    with closing(open_store(planned)) as store:
        yield Contest(store, planned)


def is_whole(contest: Contest, games: int) -> None:
    """All games have a result each, of one attempt; every attempt has one end, and every record is what it says."""
    results = contest.view().results
    assert games == len(results) == len({result.id for result in results})
    assert {GameState.DONE: games} == {state: n for state, n in contest.store.counts(contest.name).items() if n}
    assert contest.view().is_over
    lines = contest.store.journal(contest.name)
    assert [*range(len(lines))] == [line.number for line in lines]
    leaves = {(line.game, line.attempt): line.digest for line in lines if line.event == "accepted"}
    events = Counter(line.event for line in lines)
    assert games == events["accepted"]
    assert events["started"] == events["accepted"] + events["abandoned"]
    for result in results:
        file = contest.record(result.record)
        assert (result.id, result.attempt) == (file.record.spec.id, file.record.attempt)
        assert digest_of(file) == leaves[result.id, result.attempt]
        assert () == tuple(verify(file).problems)


def digest_of(file: RecordFile) -> str:
    return hashlib.sha256(public_part(file).to_json()).hexdigest()


def _told(contest: Contest) -> list[tuple[object, ...]]:
    """What must not depend on when it was played: everything but times."""
    return [
        (result.id, result.verdict, result.winner, result.reason, result.faults, result.replies)
        for result in contest.view().results
    ]


def _table(contest: Contest) -> list[tuple[object, ...]]:
    return [
        (line.place, line.agent, line.points, line.byes, line.done.wins, line.done.losses)
        for line in contest.view().table.lines
    ]


def test_workers_that_start_while_their_judge_is_killed_end(lives: Lives, tmp_path: Path) -> None:
    contest = write_contest(tmp_path / "killed", PLAN.replace("STORE", "sqlite:///contest.db"), SEVEN)
    lives.begin(contest, "game is begun#2")

    assert -signal.SIGKILL == lives.end()
    assert [] == lives.left()


ROUND_ROBIN = """
name = "killed"
policy = "gomocup-fastgame"
change = ["clock.turn_ms=30000", "clock.match_ms=0", "clock.starved_share=1"]
[format]
name = "round-robin"
games = 2
"""


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.docker
def test_the_command_itself_is_killed_with_games_in_containers(
    judge: Judge, client: docker.DockerClient, tmp_path: Path
) -> None:
    """Four racers of whom the better always wins; kept folders are with their keepers in containers of their own.

    Each judge has one slot and dies when its first game has ended, if not before: so few cannot end twelve games.
    """
    cup = write_contest(tmp_path / "cup", ROUND_ROBIN, (0, 1, 2, 3))
    chance = seeded()
    pids = []
    for _ in range(sized(3, 5)):
        with running(tmp_path, "cup", "--workers", "1") as process:
            box_of(client, process, seat=None)
            assert process.stdout
            select([process.stdout], [], [], 2 * chance.random())
            assert process.poll() is None
            pids += [process.pid, *workers(process.pid)]
            process.kill()

    judge("contest", "run", "cup", code=0)

    assert [] == left(pids)
    with _opened(cup) as contest:
        is_whole(contest, 12)
        assert [f"racer-{number}" for number in range(4)] == [line[1] for line in _table(contest)]
        assert [6.0, 4.0, 2.0, 0.0] == [line[2] for line in _table(contest)]
