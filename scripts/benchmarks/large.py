"""`./scripts/bench large`: what the commands of a contest cost with very many games, and whether that grows as they do.

The records are those of a few real games, one for each opening, with each game's own names, seed and time. Each
command runs in a process of its own, as an organiser runs it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from judge.base.errors import HostError
from judge.contest.attempts import outcome_and_record
from judge.contest.begin import begin
from judge.contest.contest import Contest, open_store
from judge.contest.file_names import PLAN_FILE
from judge.contest.plan import load_plan
from judge.contest_games import ScheduledGame
from judge.play.game import play
from judge.play.venue import Venue
from judge.record.spec import GameSpec, Placement, RecordFile
from scripts.benchmarks.measuring import GOMOKU, Bench, Figure, everywhere

AGENTS = 20
OPENINGS = ("-1,-1, 0,0", "-1,-1, 0,1", "-1,0, 0,0", "-2,-2, 2,2", "0,0, 0,1", "-1,1, 1,-1", "0,0, 1,1", "-2,0, 0,-2")

PLAN = """\
name = "large"
policy = "{policy}"
change = ["game.options.width=9", "game.options.height=9", "folders.persistent=false", "folders.temporary=false"]

[format]
{form}

[openings]
file = "openings.txt"
{agents}
"""
AGENT = """
[[agents]]
path = "house-instant"
name = "agent-{number:02}"
"""

COMMANDS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("plan", ("plan", "{folder}")),
    ("standings", ("standings", "{folder}", "--json")),
    ("crosstable", ("crosstable", "{folder}", "--json")),
    ("status", ("status", "{folder}")),
    ("export with pages", ("export", "{folder}/public", "{folder}", "--language", "en")),
    ("verify", ("verify", "{folder}/public")),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took: seconds, of all processors together, and the memory of its largest process."""

    seconds: float
    cpu_seconds: float
    memory_bytes: int


def large(bench: Bench) -> Iterator[Figure]:
    """Each command with the fewest games first; of the largest contest, how a game's share has grown since."""
    costs: dict[str, list[tuple[int, Cost]]] = {}
    for size in bench.sizes:
        folder = bench.staging / f"large-{size}"
        began = time.monotonic()
        games = _play_out(bench, folder, size)
        yield Figure(f"{games} games: issued and accepted", (time.monotonic() - began) / games * 1000, "ms/game")
        _command(folder, ("key", "{folder}/organiser.key"))
        for name, words in COMMANDS:
            with everywhere(bench.slot):
                cost = _command(folder, words)
            costs.setdefault(name, []).append((games, cost))
            yield Figure(f"{games} games: {name}", cost.seconds, "s")
            yield Figure(f"{games} games: {name}, CPU", cost.cpu_seconds / games * 1000, "ms/game")
            yield Figure(f"{games} games: {name}, memory", cost.memory_bytes / 2**20, "MiB")
        for name, path in (
            ("store", folder / "contest.db"),
            ("records", folder / "files"),
            ("export", folder / "public"),
        ):
            yield Figure(f"{games} games: {name}, disk", _bytes_of(path) / games / 1024, "KiB/game")
    for name, each in costs.items():
        (few, least), (many, most) = each[0], each[-1]
        if many > few:
            growth = (most.cpu_seconds / many) / (least.cpu_seconds / few)
            yield Figure(f"{name}: a game's share, {many} against {few} games", growth, "times", 1.0, growth)


def prepare(folder: Path, size: int) -> Path:
    """The file, in a new folder, of a round robin of about so many games."""
    folder.mkdir()
    pairs = AGENTS * (AGENTS - 1) // 2
    return _written(folder, AGENTS, f'name = "round-robin"\ngames = {max(1, round(size / pairs))}')


def prepare_ladder(folder: Path, agents: int, games: int) -> Path:
    """The contest file, in a new folder, of a ladder."""
    folder.mkdir()
    return _written(folder, agents, f'name = "ladder"\ntotal_games = {games}')


def _written(folder: Path, count: int, form: str) -> Path:
    agents = "".join(AGENT.format(number=number) for number in range(1, count + 1))
    (folder / "openings.txt").write_text("\n".join(OPENINGS) + "\n")
    (folder / PLAN_FILE).write_text(PLAN.format(policy=GOMOKU, form=form, agents=agents))
    return folder / PLAN_FILE


def _play_out(bench: Bench, folder: Path, size: int) -> int:
    """A round robin of about so many games, all with results; how many there are."""
    planned = load_plan(prepare(folder, size))
    with closing(open_store(planned)) as store:
        contest = begin(store, planned, {"cpu": "a processor"})
        real: dict[object, RecordFile] = {}
        games = 0
        while (game := store.issue(contest.name, "here", contest.alone)) is not None:
            spec = contest.job(game).spec()
            template = real.get(spec.opening) or real.setdefault(spec.opening, real_game(bench, contest, game, spec))
            outcome, data = outcome_and_record(as_of(template, game, spec))
            path = contest.files.path(outcome.record)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)  # not synced: what that costs is no part of this
            store.accept(game.id, game.attempt, outcome)
            games += 1
    return games


def real_game(bench: Bench, contest: Contest, game: ScheduledGame, spec: GameSpec) -> RecordFile:
    """Play it here. Raises HostError if it is void."""
    file = play(spec, contest.job(game).programs, venue=Venue(bench.slot))
    if file.record.verdict == "void":
        raise HostError(f"a game of the measurement is void: {file.record.reason}")
    return file


def as_of(file: RecordFile, game: ScheduledGame, spec: GameSpec) -> RecordFile:
    """The record of a game between other agents with the same files: they play alike, as they are deterministic."""
    seats = tuple(
        seat.model_copy(update={"name": chosen.name})
        for seat, chosen in zip(file.record.seats, spec.seats, strict=True)
    )
    place = Placement(box=("world", "world"), judge_cores=(0,), slot_cores=(1 + game.number % 2,), host="here")
    fields = {"id": spec.id, "spec": spec, "seats": seats, "attempt": game.attempt, "placement": place}
    record = file.record.model_copy(update={**fields, "started_at": datetime.now(UTC).isoformat(timespec="seconds")})
    return RecordFile(record=record, transcript=file.transcript)


def _command(folder: Path, words: Sequence[str]) -> Cost:
    """Run `judge contest`; HostError where it fails."""
    command = [sys.executable, "-m", "judge.cli", "contest", *(word.format(folder=folder) for word in words)]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder) as process:
        said = b"" if process.stderr is None else process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise HostError(f"judge contest {words[0]} ended with code {process.returncode}: {said.decode()[-500:]}")
    return Cost(time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def _bytes_of(place: Path) -> int:
    """What a file, or all files of a directory, take on the disk."""
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return sum(path.stat().st_blocks * 512 for path in files)
