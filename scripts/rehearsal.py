"""`./scripts/rehearse`: the nine leagues of the Gomocup cup of 2026 in small, from cup.toml to both verifiers.

A first cup gives ratings. The second cup leaves out pairs by them, and plays on a scheduler and two workers of this
host, one of which is killed during a game. Clocks are a hundredth of the real ones.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.base.errors import HostError, InputError
from judge.base.toml_files import toml_value
from judge.broadcast.log import LOG_FILE
from judge.contest.plan import load_plan
from judge.contest_games import GameState
from judge.record.policy import load_policy
from judge.referee.blame import RULED
from judge.store.queries import Reader

DIVISOR = 100
"""Of the real clocks."""

PATIENCE_S = 3600
"""Seconds after which a cup is stopped."""

POLL_INTERVAL_S = 1.0
KILL_INTERVAL_S = 0.05

LOST_AFTER_S = 5
"""Seconds without a message after which a worker is lost; dask's minimum."""

SETTLE_S = 3.0
"""Less than `LOST_AFTER_S`: a stopped worker is not lost yet."""

WORKERS = ("one", "two")

FOREIGN = ("rapfi", "SlowRenju16", "sWINe15", "Tito14", "Yixin16", "wine", "figrid", "PentaZen", "calvet", "johan")
"""Public programs: folders of --programs. Nothing of them is part of judge."""


@dataclass(frozen=True, slots=True)
class RehearsedLeague:
    """A league of the cup. `below`: the league whose best agents advance to it; `is_sparse`: pairs are left out."""

    name: str
    policy: str
    below: str = ""
    is_sparse: bool = False
    above: str = ""
    """The first league of the same game, whose relegated agents play here."""
    has_medals: bool = True


LEAGUES = (
    RehearsedLeague("freestyle-2", "gomocup-freestyle", is_sparse=True, above="freestyle-1", has_medals=False),
    RehearsedLeague("freestyle15-2", "gomocup-freestyle-15", is_sparse=True, above="freestyle15-1", has_medals=False),
    RehearsedLeague("standard-2", "gomocup-standard", is_sparse=True, above="standard-1", has_medals=False),
    RehearsedLeague("fastgame", "gomocup-fastgame", is_sparse=True),
    RehearsedLeague("renju", "renju-15:finals"),
    RehearsedLeague("caro", "gomocup-caro:finals"),
    RehearsedLeague("freestyle-1", "gomocup-freestyle:finals", "freestyle-2"),
    RehearsedLeague("freestyle15-1", "gomocup-freestyle-15:finals", "freestyle15-2"),
    RehearsedLeague("standard-1", "gomocup-standard:finals", "standard-2"),
)

SMALL_LEAGUES = tuple(each for each in LEAGUES if each.name in {"freestyle-2", "fastgame", "renju", "freestyle-1"})
"""One of each kind."""

SECOND = ("freestyle-2", "freestyle15-2", "standard-2")
FIRST = ("freestyle-1", "freestyle15-1", "standard-1")

ENTRIES: Mapping[str, tuple[str, Sequence[str]]] = {
    "renju": ("house-renju", ("fastgame", "renju", "caro", *FIRST)),
    "python-a": ("house-python", ("fastgame", "renju", *SECOND)),
    "python-b": ("house-python", ("fastgame", "caro", *SECOND)),
    "instant-a": ("house-instant", ("fastgame", "renju", *SECOND)),
    "instant-b": ("house-instant", ("fastgame", "caro", *FIRST)),
    "stamp-a": ("house-stamp", ("fastgame", "renju", *SECOND)),
    "stamp-b": ("house-stamp", ("fastgame", "caro")),
}

NEW_ENTRIES: Mapping[str, tuple[str, Sequence[str]]] = {
    "new-a": ("house-python", ("fastgame", *SECOND)),
    "new-b": ("house-instant", ("fastgame", *SECOND)),
}
"""Agents of the second cup only: without a rating, so they meet all others."""

SMALL_ENTRIES: Mapping[str, tuple[str, Sequence[str]]] = {
    "instant-a": ("house-instant", ("fastgame", "renju", *FIRST)),
    "python-a": ("house-python", ("fastgame", "renju", "caro", *SECOND)),
    "python-b": ("house-python", ("caro", *SECOND)),
}

BUSY_WORDS = (
    "--busy-host: a turn lost on time counts although other work took the cores (clock.starved_share = 1), so the cup "
    "ends on a busy host. The host causes these losses: do not compare agents by places or failures of this run."
)


@dataclass(frozen=True, slots=True)
class LostGame:
    """A game that a killed worker was playing. `killed_at` is in UTC, to the second."""

    league: str
    number: int
    worker: str
    killed_at: str


app = typer.Typer(add_completion=False)


@app.command()
def rehearse(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for both cups and the export.")],
    programs: Annotated[Path | None, typer.Option(help="A folder with public programs, each in its folder.")] = None,
    games: Annotated[int, typer.Option(min=1, help="Games of each pair in the second cup.")] = 4,
    is_busy: Annotated[
        bool, typer.Option("--busy-host", help="Other work takes the cores: count turns lost on time because of it.")
    ] = False,
    is_small: Annotated[bool, typer.Option("--small", help="Three agents and four leagues, without programs.")] = False,
) -> None:
    """Play the cup of 2026 in small, kill a worker, export once, run both verifiers, and print a summary."""
    if folder.exists():
        raise InputError(f"{folder} exists: name a new folder")
    if shutil.which("node") is None:
        raise HostError("node is missing: install Node.js, which runs the second verifier")
    if is_busy:
        print(BUSY_WORDS, flush=True)
    folder.mkdir(parents=True)
    found = [] if programs is None or is_small else [name for name in FOREIGN if (programs / name).is_dir()]
    for name in FOREIGN:
        print(f"{name}: {'plays' if name in found else 'not here, skipped'}", flush=True)
    foreign = {name: (str((programs or Path()).resolve() / name), ("fastgame", "freestyle15-2")) for name in found}
    leagues = SMALL_LEAGUES if is_small else LEAGUES
    entries = {**(SMALL_ENTRIES if is_small else ENTRIES), **foreign}
    promoted = 1 if is_small else 2
    more = ["clock.starved_share=1"] if is_busy else []
    write_cup(folder / "2025", leagues, entries, 1, promoted, more)
    all_entries = {**entries, **({} if is_small else NEW_ENTRIES)}
    write_cup(folder / "2026", leagues, all_entries, games, promoted, more, folder / "2025")
    summary = {**Rehearsal(folder, leagues).run(has_faults=is_busy), **({"busy_host": BUSY_WORDS} if is_busy else {})}
    print(json.dumps(summary, indent=1))
    if not summary["is_good"]:
        raise SystemExit(1)


def write_cup(
    folder: Path,
    leagues: Sequence[RehearsedLeague],
    entries: Mapping[str, tuple[str, Sequence[str]]],
    games: int,
    promoted: int,
    more: Sequence[str],
    last: Path | None = None,
) -> None:
    """Write a cup.toml. `more`: changes of all policies. Ratings of the `last` cup leave out pairs."""
    text = f'name = "cup-{folder.name}"\nabout = "A rehearsal"\n'
    names = {league.name for league in leagues}
    for league in leagues:
        clock = load_policy(league.policy).clock
        change = [f"clock.turn_ms={clock.turn_ms // DIVISOR}", f"clock.match_ms={clock.match_ms // DIVISOR}"]
        form: dict[str, Any] = {"name": "round-robin", "games": games, "ranking": ["rating"]}
        if last is not None and league.is_sparse:
            above = {"above": f"../{last.name}/{league.above}"} if league.above else {}
            form["skip"] = {"ratings": f"../{last.name}/{league.name}", **above}
        text += f'[[leagues]]\nname = "{league.name}"\npolicy = "{league.policy}"\n'
        text += f"change = {toml_value([*change, 'folders.round=first', *more])}\nformat = {toml_value(form)}\n"
        if league.below:
            text += f'after = "{league.below}"\npromoted = {promoted}\n'
            text += "promotes_new = true\n" if last is not None else ""
        text += "" if league.has_medals else "medals = false\n"
    for name, (path, chosen) in entries.items():
        text += f"[[entries]]\npath = {toml_value(path)}\nname = {toml_value(name)}\n"
        text += f"leagues = {toml_value([each for each in chosen if each in names])}\n"
    folder.mkdir()
    (folder / "cup.toml").write_text(text)


class Rehearsal:
    """Both cups in their folder, with the processes of a cluster."""

    def __init__(self, folder: Path, leagues: Sequence[RehearsedLeague]) -> None:
        self.folder = folder
        self.leagues = leagues
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.kills = 0
        self.lost: list[LostGame] = []

    def run(self, *, has_faults: bool) -> Mapping[str, Any]:
        """Play, export and verify; return the summary. `has_faults`: agents may have lost by the host's fault."""
        began = time.monotonic()
        judge(self.folder, "contest", "key", "2026/organiser.key")
        with self._started("scheduler", "--listen", self.address, "--lost-after", str(LOST_AFTER_S)):
            workers = {name: self._start(*self._worker(name)) for name in WORKERS}
            try:
                self._play("2025", {})
                self._play("2026", workers)
            finally:
                for process in workers.values():
                    stop(process)
        played = time.monotonic() - began
        counts = {cup: self._counts(cup) for cup in ("2025", "2026")}
        exported = judge(self.folder, "contest", "export", "public", "2026")
        verified = [
            run(self.folder, [sys.executable, "-m", "judge.cli", "contest", "verify", "public", "--key", KEY]),
            run(self.folder, ["node", "public/verify.mjs", "public", KEY]),
        ]
        leagues = json.loads(judge(self.folder, "contest", "status", "2026", "--json"))["leagues"]
        plan = json.loads(run(self.folder, [sys.executable, "-m", "judge.cli", "contest", "plan", "2026", "--json"])[1])
        is_over = len(leagues) == len(self.leagues) and all(league["is_over"] for league in leagues.values())
        lost = [self._played_again(game) for game in self.lost]
        are_repeated = all(each["is_later"] and (has_faults or not each["faults"]) for each in lost)
        return {
            "is_good": is_over and bool(lost) and are_repeated and not any(code for code, _ in verified),
            "games": {cup: each["accepted"] for cup, each in counts.items()},
            "pairs_left_out": sum(league["left_out"] for league in plan["leagues"]),
            "voids": sum(each["void"] for each in counts.values()),
            "abandoned": sum(each["abandoned"] for each in counts.values()),
            "disqualified": sum(each["disqualified"] for each in counts.values()),
            "kills": self.kills,
            "games_of_the_killed_worker": lost,
            "hosts": {
                name: {each["name"]: each["played"] for each in league["hosts"]} for name, league in leagues.items()
            },
            "medals": json.loads((self.folder / "public/cup.json").read_bytes())["medals"],
            "exported": exported.splitlines()[-3:],
            "judge contest verify": [verified[0][0], verified[0][1].splitlines()[-1]],
            "verify.mjs": [verified[1][0], verified[1][1].splitlines()[-1]],
            "seconds": {"games": round(played), "all": round(time.monotonic() - began)},
        }

    def _play(self, cup: str, workers: dict[str, subprocess.Popen[bytes]]) -> None:
        """Play a cup to its end. Of `workers` the last is killed after some games, and started again."""
        plan = json.loads(judge(self.folder, "contest", "plan", cup, "--json"))
        total = sum(each["games"] for each in plan["leagues"])
        print(f"{cup}: about {total} games", flush=True)
        deadline, doomed, is_late = time.monotonic() + PATIENCE_S, WORKERS[-1] if workers else "", False
        with self._started("contest", "run", cup, "--cluster", self.address, log=f"{cup}.log") as process:
            while process.poll() is None:
                if time.monotonic() > deadline:
                    raise HostError(f"{cup} is not over after {PATIENCE_S} s; see {self.folder / cup}.log")
                is_late = is_late or (bool(doomed) and self._is_late(cup, total))
                if doomed and is_late and self._is_killed(cup, doomed, workers[doomed]):
                    workers[doomed] = self._start(*self._worker(doomed))
                    doomed = "" if self.lost else doomed
                # A small game lasts about a second.
                time.sleep(KILL_INTERVAL_S if doomed and is_late else POLL_INTERVAL_S)
        if process.returncode:
            raise HostError(f"{cup} failed; see {self.folder / cup}.log and {self.folder / cup}/*/run.log")

    def _is_late(self, cup: str, total: int) -> bool:
        """Whether a tenth of all games is played."""
        done = 0
        for league in self.leagues:
            if (self.folder / cup / league.name / LOG_FILE).exists():
                reader, name = self._reader(cup, league.name)
                with closing(reader):
                    done += reader.counts(name)[GameState.DONE]
        return done * 10 >= total

    def _is_killed(self, cup: str, worker: str, process: subprocess.Popen[bytes]) -> bool:
        """Kill a worker during a game and wait until the cup records the loss; False if it is not playing.

        A stopped worker sends no result. If it still plays then, the game cannot end on it.
        """
        if not self._in_play(cup, worker):
            return False
        process.send_signal(signal.SIGSTOP)
        killed_at = datetime.now(UTC).isoformat(timespec="seconds")
        # A result that the worker sent before it was stopped arrives in this time.
        settled = time.monotonic() + SETTLE_S
        while (games := self._in_play(cup, worker)) and time.monotonic() < settled:
            time.sleep(POLL_INTERVAL_S)
        if not games:
            process.send_signal(signal.SIGCONT)
            return False
        process.kill()
        process.wait()
        self.kills += 1
        for league, number in games:
            print(f"{cup}: worker {worker} was killed during game {number} of {league}", flush=True)
        deadline = time.monotonic() + PATIENCE_S
        while any(self._is_placed(cup, worker, *game) for game in games):
            if time.monotonic() > deadline:
                raise HostError(f"{cup}: the loss of worker {worker} is not noticed")
            time.sleep(POLL_INTERVAL_S)
        # A result that the worker sent before it was stopped still counts.
        self.lost = [
            LostGame(league, number, worker, killed_at)
            for league, number in games
            if self._starts_again(cup, worker, league, number)
        ]
        return True

    def _reader(self, cup: str, league: str) -> tuple[Reader, str]:
        planned = load_plan(self.folder / cup / league)
        return Reader(planned.store_url), planned.name

    def _is_placed(self, cup: str, worker: str, league: str, number: int) -> bool:
        """Whether a worker has a running game."""
        reader, name = self._reader(cup, league)
        with closing(reader):
            return any(game.number == number and attempt.host == worker for game, attempt in reader.running(name))

    def _in_play(self, cup: str, worker: str) -> Sequence[tuple[str, int]]:
        """League and number of the games of which a worker has sent moves, and which have not ended."""
        found = []
        for league in self.leagues:
            events = self.folder / cup / league.name / LOG_FILE
            if not events.exists():
                continue
            begun: set[int] = set()
            for line in events.read_text().splitlines(keepends=True):
                event = json.loads(line) if line.endswith("\n") else {}
                if event.get("type") == "move":
                    begun.add(event["game"])
                elif event.get("type") == "ended":
                    begun.discard(event["game"])
            found += [(league.name, number) for number in begun if self._is_placed(cup, worker, league.name, number)]
        return found

    def _starts_again(self, cup: str, worker: str, league: str, number: int) -> bool:
        words = re.compile(rf"game {number}, attempt [0-9]+, of worker {worker} starts again")
        reader, name = self._reader(cup, league)
        with closing(reader):
            return any(words.fullmatch(line.text) for line in reader.journal(name))

    def _played_again(self, lost: LostGame) -> Mapping[str, Any]:
        """The result of a lost game: when it was played again, where, and which agents failed."""
        record = json.loads((self.folder / f"public/{lost.league}/records/{lost.number:05d}.json").read_bytes())[
            "record"
        ]
        return {
            "league": lost.league,
            "game": lost.number,
            "killed_at": lost.killed_at,
            "played_again_at": record["started_at"],
            "on": record["placement"]["host"],
            "is_later": record["started_at"] >= lost.killed_at,
            "verdict": record["verdict"],
            # A wrong answer is the agent's in any run; the host can cause only the others.
            "faults": [seat["fault"] for seat in record["seats"] if seat["fault"] and seat["fault"] not in set(RULED)],
        }

    def _counts(self, cup: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for league in self.leagues:
            lines = json.loads(judge(self.folder, "contest", "journal", f"{cup}/{league.name}", "--json"))
            found.update(line["event"] for line in lines)
        return found

    def _worker(self, name: str) -> Sequence[str]:
        return "worker", "--scheduler", self.address, "--name", name, "--folder", name, "--slots", "1"

    @contextmanager
    def _started(self, *words: str, log: str = "") -> Iterator[subprocess.Popen[bytes]]:
        process = self._start(*words, log=log)
        try:
            yield process
        finally:
            stop(process)

    def _start(self, *words: str, log: str = "") -> subprocess.Popen[bytes]:
        with (self.folder / (log or f"{words[0]}.log")).open("ab") as file:
            command = [sys.executable, "-m", "judge.cli", *words]
            return subprocess.Popen(command, cwd=self.folder, stdout=file, stderr=file, env=environment())


KEY = "2026/organiser.pem"


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(60)
    process.kill()
    process.wait()


def environment() -> Mapping[str, str]:
    """This checkout's judge, also from another folder."""
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}


def run(folder: Path, command: Sequence[str]) -> tuple[int, str]:
    """Run a command in a folder; return exit code and output."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False, env=environment())
    return done.returncode, done.stdout


def judge(folder: Path, *words: str) -> str:
    """Run a judge command in a folder; return its output. Raises HostError if it fails."""
    code, text = run(folder, [sys.executable, "-m", "judge.cli", *words])
    if code:
        raise HostError(f"judge {' '.join(words)} failed with {code}: {text.strip()[-300:]}")
    return text


if __name__ == "__main__":
    try:
        app()
    except (InputError, HostError) as error:
        sys.exit(f"rehearse: {error}")
