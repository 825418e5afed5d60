"""`kill -9` of judges that play a ladder, in which agents join and are replaced: nothing is lost or counts twice, and
each pair follows from the log. With PostgreSQL, another host takes over each time.
"""

import json
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judge.agents.manifest import AgentManifest
from judge.agents.program_files import program_digest
from judge.cli.submit import open_intake
from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.publish.verify.draws import admission_problems, ladder_problems
from judge.publish.verify.log import ReadLog
from judge.publish.verify.log_lines import log_problems
from judge.store.types import ProcessingResult, Upload
from judge.tournament.snapshot import newest_versions
from judge.transparency.checkpoint import Checkpoint
from judge.transparency.merkle import Tree
from tests.contest.racers import AT_ONCE, RACER, write_contest
from tests.examples import of_evidence, sized
from tests.faults.test_contest_killed import (
    ENTRIES,
    FIRST,
    IN_A_GAME,
    ROUNDS,
    Lives,
    digest_of,
    is_whole,
    life,
    lives,
    seeded,
)
from tests.store.server import database

__all__ = ["lives"]

KILLS = sized(11, 100)
GAMES = sized(28, 216)
LAST = f"game is issued#{sized(4, 8)}"
"""Where a life of the ladder ends that has not ended before."""

PLAN = f"""
name = "killed"
policy = "gomocup-freestyle"
change = [{AT_ONCE}]
store = "STORE"

[format]
name = "ladder"
total_games = {GAMES}
"""

SUBMITTED = (("zoe", 2), ("yan", 0), ("zoe", 1), ("zoe", 0))
"""Names and idle stones of racers that are submitted between two lives: a racer, another one, and two new versions."""


@pytest.fixture(params=["postgresql", *of_evidence("sqlite")])
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    with database(request.param) as url:
        yield url


@pytest.mark.long
def test_a_ladder_of_killed_judges_is_whole_and_verifies(lives: Lives, tmp_path: Path, store: str) -> None:
    chance = seeded()
    hosts = [write_contest(tmp_path / "one", PLAN.replace("STORE", store), (0, 0, 1, 2, 3, 4))]
    if not store.startswith("sqlite"):
        hosts.append(tmp_path / "two")
        hosts[1].mkdir()
        shutil.copy(hosts[0] / "contest.toml", hosts[1])
    points = [*FIRST, *(chance.choice(["", *IN_A_GAME, *ROUNDS]) for _ in range(KILLS - len(FIRST)))]
    submitted = {len(FIRST) + number * (KILLS - len(FIRST)) // 4: each for number, each in enumerate(SUBMITTED)}
    codes = []
    for number, point in enumerate(points):
        host = hosts[number % len(hosts)] if number > len(FIRST) else hosts[0]
        if number in submitted:
            submit(hosts[0], *submitted[number])
            host, point = hosts[0], ENTRIES[number % 2]
        codes.append(life(lives, host, point, chance, *([LAST] if number >= len(FIRST) else [])))
    assert [-signal.SIGKILL] * KILLS == codes
    assert [] == lives.left()
    lives.forget()
    lives.begin(hosts[0])
    assert 0 == lives.end()
    planned = load_plan(hosts[0])
    with closing(open_store(planned)) as found:
        contest = Contest(found, planned)
        is_whole(contest, GAMES)
        newest = newest_versions(contest.snapshot.entries)
        assert (2, 4) == (newest["yan"].submission, newest["zoe"].submission)
        digests = {(one.number, one.attempt): digest_of(contest.record(one.record)) for one in contest.view().results}
        published = contest.read()
        log = ReadLog(Checkpoint("", 0, b""), Tree(()), published.journal)
        assert GAMES == sum(line.event == "scheduled" for line in published.journal)
        assert published.secret
        assert [] == [*log_problems(published, log, digests), *ladder_problems(published, log, {})]
        assert [] == [*admission_problems(published, log)]


def submit(folder: Path, name: str, idle: int) -> None:
    staged = folder / "agents" / "staged"
    staged.mkdir(parents=True)
    shutil.copy(RACER, staged / "racer.py")
    (staged / "version").write_text(f"{name} {idle}")
    digest = program_digest(staged)
    staged.rename(folder / "agents" / digest)
    command = ("python3", "-I", "-S", "racer.py", str(idle))
    manifest = AgentManifest(name=name, command=command, runtime="python", author=name).model_dump(mode="json")
    described = json.dumps({"manifest": manifest, "program": digest, "executables": []})
    with closing(open_intake(folder).register()) as register:
        taken = register.receive(Upload(name, name, f"{name}.zip", digest, 1), worker="w")
        register.finish(taken.id, taken.attempt, ProcessingResult("", name, digest, described, None, None))
