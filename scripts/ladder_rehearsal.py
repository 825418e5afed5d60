"""`./scripts/rehearse ladder`: agents join a ladder, are replaced and crash, and the judge is killed.

The export is verified, and a round robin of the same agents gives results to compare the ratings with.
"""

import json
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.base.errors import HostError, InputError
from scripts.rehearsal import environment, judge, run, stop

IMAGES = Path(__file__).parents[1] / "images"
BUILT = Path(__file__).parents[1] / ".build"
LANGUAGES = Path(__file__).parents[1] / "tests/languages"

LISTED = ("house-python", "house-stamp")
"""Agents from the start."""

SUBMITTED: Mapping[str, Path] = {
    "strong": BUILT / "house-strong",
    "renju": BUILT / "house-renju",
    "instant": BUILT / "house-instant",
    "python": BUILT / "house-python",
    "java": IMAGES / "house-java",
    "starter-c": IMAGES / "starter-gomocup-c",
    "starter-cpp": IMAGES / "starter-gomocup-cpp",
    "starter-java": IMAGES / "starter-gomocup-java",
    "starter-python": IMAGES / "starter-gomocup-python",
    "javascript": LANGUAGES / "node",
    "pascal": LANGUAGES / "pascal",
}

RUNTIMES = ("native", "python", "java", "wine", "node")

REPLACED = ("renju", "starter-cpp", "python", "starter-java")
"""Agents with a new version."""

CRASH_INTERVAL_S = 600
"""Seconds between two uploads of the author whose agent crashes."""

CRASHER = '''"""Plays at random and crashes in a third of its games. Its check has two."""
import random
import sys

SIZE = 20
CRASHES_AT = random.choice((%(crashes_at)d, 400, 400))


def main() -> None:
    taken, moves = set(), 0
    free = [(x, y) for x in range(SIZE) for y in range(SIZE)]
    random.shuffle(free)

    def move():
        nonlocal moves
        moves += 1
        if moves == CRASHES_AT:
            raise SystemExit("crashed on purpose")
        while (chosen := free.pop()) in taken:
            pass
        taken.add(chosen)
        print("%%d,%%d" %% chosen, flush=True)

    while line := sys.stdin.readline():
        words = line.split()
        if words[0] in ("START", "RESTART"):
            taken.clear()
            print("OK", flush=True)
        elif words[0] == "ABOUT":
            print('name="crasher", version="%(crashes_at)d", author="A", country="XY"', flush=True)
        elif words[0] == "BEGIN":
            move()
        elif words[0] == "TURN":
            taken.add(tuple(map(int, words[1].split(","))))
            move()
        elif words[0] == "BOARD":
            while (stone := sys.stdin.readline().strip()) != "DONE":
                taken.add(tuple(map(int, stone.split(",")[:2])))
            move()
        elif words[0] == "END":
            break


main()
'''

SUMMARY_FILE = "summary.json"

POLL_INTERVAL_S = 1.0
READY_S = 120
PATIENCE_S = 1800
"""Seconds after the end of the season after which the run is stopped."""

KILLS = 2
"""Of the service and of the runner."""

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, slots=True, order=True)
class Event:
    """A planned event. `at_s`: seconds after the start. `archive`: None for a kill of the process `name`."""

    at_s: float
    name: str
    author: str = ""
    archive: Path | None = None


@app.command()
def rehearse(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the contests and the export.")],
    minutes: Annotated[float, typer.Option(min=1, help="Length of the season.")] = 120,
    programs: Annotated[Path | None, typer.Option(help="A folder with archives of public programs.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the moments.")] = 1,
    turn_ms: Annotated[int, typer.Option(min=10, help="Milliseconds for a move.")] = 200,
    cycles: Annotated[int, typer.Option(min=0, help="Pairs of games of each pairing in the round robin; 0: none.")] = 1,
    is_busy: Annotated[
        bool, typer.Option("--busy-host", help="Other work takes the cores: count turns lost on time because of it.")
    ] = False,
) -> None:
    """Play a ladder with uploads over HTTP and kills, verify its export, and compare it with a round robin."""
    if folder.exists():
        raise InputError(f"{folder} exists: name a new folder")
    if shutil.which("node") is None:
        raise HostError("node is missing: install Node.js, which runs the second verifier")
    folder.mkdir(parents=True)
    changes = [f"clock.turn_ms={turn_ms}", f"clock.match_ms={turn_ms * 40}", f"admits={json.dumps(RUNTIMES)}"]
    changes += ["clock.starved_share=1"] if is_busy else []
    season = Season(folder, changes, minutes * 60)
    season.events = plan_events(folder, season.seconds, seed, programs)
    summary = season.play()
    (folder / SUMMARY_FILE).write_text(json.dumps(summary, indent=1))
    if cycles:
        summary["round_robin"] = round_robin(folder, cycles)
        (folder / SUMMARY_FILE).write_text(json.dumps(summary, indent=1))
    print(json.dumps(summary, indent=1))
    if not summary["is_good"]:
        raise SystemExit(1)


def plan_events(folder: Path, seconds: float, seed: int, programs: Path | None) -> list[Event]:
    """Uploads and kills at random moments: agents in the first half, new versions and kills after it begins."""
    chance = random.Random(seed)
    found = sorted(programs.glob("*.zip")) if programs else []
    archives = {name: pack(folder / f"{name}.zip", path) for name, path in SUBMITTED.items()}
    archives |= {path.stem: path for path in found}
    events = [Event(chance.uniform(0, seconds / 2), name, f"author-{name}", path) for name, path in archives.items()]
    for name in REPLACED:
        path = pack(folder / f"{name}-2.zip", SUBMITTED[name], note="second version")
        events.append(Event(chance.uniform(seconds * 0.55, seconds * 0.85), name, f"author-{name}", path))
    for number in range(int(seconds * 0.9 // CRASH_INTERVAL_S) + 1):
        source = folder / f"crasher-{number}"
        source.mkdir()
        (source / "main.py").write_text(CRASHER % {"crashes_at": 4 + number})
        (source / "agent.toml").write_text(
            'name = "crasher"\ncommand = ["python3", "main.py"]\nruntime = "python"\nprotocol = "gomocup"\n'
        )
        path = pack(folder / f"crasher-{number}.zip", source)
        events.append(Event(number * CRASH_INTERVAL_S, "crasher", "author-crasher", path))
    events += [
        Event(chance.uniform(seconds * 0.2, seconds * 0.9), name)
        for name in ("service", "runner")
        for _ in range(KILLS)
    ]
    return sorted(events, key=lambda event: event.at_s)


def pack(archive: Path, folder: Path, note: str = "") -> Path:
    """Pack a folder's files. `note` is one more file, so that a new version has other files."""
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                file.write(path, path.relative_to(folder))
        if note:
            file.writestr("NOTES.txt", note + "\n")
    return archive


@dataclass
class Season:
    """The ladder `ladder` in its folder, with the processes of its service and its runner."""

    folder: Path
    changes: Sequence[str]
    seconds: float
    events: list[Event] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)

    def play(self) -> dict[str, Any]:
        """Play, end, export and verify; return the summary."""
        self._prepare()
        processes = {name: self._start(name) for name in ("service", "runner")}
        self._wait_until_ready()
        uploads: list[tuple[str, subprocess.Popen[str]]] = []
        began = time.monotonic()
        waiting = list(self.events)
        try:
            while (passed := time.monotonic() - began) < self.seconds:
                while waiting and waiting[0].at_s <= passed:
                    event = waiting.pop(0)
                    print(f"{passed:7.0f} s  {'submit' if event.archive else 'kill'} {event.name}", flush=True)
                    if event.archive:
                        uploads.append((event.name, self._upload(event, event.archive)))
                    else:
                        self._kill(event.name, processes[event.name])
                        processes[event.name] = self._start(event.name)
                        self._wait_until_ready()
                if (code := processes["runner"].poll()) is not None:
                    raise HostError(f"judge contest run ended with {code}; see {self.folder}/runner.log")
                time.sleep(POLL_INTERVAL_S)
            judge(self.folder, "contest", "end-season", "ladder", "--why", "the rehearsal is over")
            try:
                code = processes["runner"].wait(PATIENCE_S)
            except subprocess.TimeoutExpired as error:
                raise HostError(f"the ladder is not over after {PATIENCE_S} s; see runner.log") from error
        finally:
            for process in processes.values():
                stop(process)
            for name, upload in uploads:
                with suppress(subprocess.TimeoutExpired):
                    text, _ = upload.communicate(timeout=60)
                    if upload.returncode:
                        self.refused.append(f"{name}: {text.strip()[-200:]}")
                upload.kill()
                upload.wait()
        return self._summary(code)

    def _prepare(self) -> None:
        listed = [word for name in LISTED for word in ("--agent", name)]
        changed = [word for change in self.changes for word in ("--set", change)]
        judge(
            self.folder,
            "contest",
            "init",
            "ladder",
            "--policy",
            "gomocup-freestyle",
            "--format",
            "ladder",
            *listed,
            *changed,
        )
        file = self.folder / "ladder/contest.toml"
        text = re.sub(r"(?m)^total_games = .*$", "total_games = 100000", file.read_text())
        # The author of the crasher uploads more often than others.
        file.write_text(text + "\n[intake]\nuploads_per_hour = 60\npractice_games = 0\n")
        judge(self.folder, "contest", "key", "ladder/organiser.key")
        for author in {event.author for event in self.events if event.archive}:
            token = judge(self.folder, "tokens", "make", author, "ladder").split()[0]
            (self.folder / f"{author}.token").write_text(token)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        words = {
            "service": ("serve", "ladder", "--listen", f"127.0.0.1:{self.port}"),
            "runner": ("contest", "run", "ladder", "--now"),
        }[name]
        with (self.folder / f"{name}.log").open("ab") as log:
            command = [sys.executable, "-m", "judge.cli", *words]
            return subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env=environment())

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/ready", timeout=5):
                return
            time.sleep(POLL_INTERVAL_S)
        raise HostError(f"judge serve is not ready after {READY_S} s; see {self.folder}/service.log")

    def _kill(self, name: str, process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.kills[name] += 1

    def _upload(self, event: Event, archive: Path) -> subprocess.Popen[str]:
        self._wait_until_ready()
        words = ["submit", str(archive.resolve()), "--url", f"http://127.0.0.1:{self.port}", "--name", event.name]
        command = [sys.executable, "-m", "judge.cli", *words, "--token-file", f"{event.author}.token"]
        return subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment()
        )

    def _summary(self, code: int) -> dict[str, Any]:
        journal = json.loads(judge(self.folder, "contest", "journal", "ladder", "--json"))
        events = Counter(line["event"] for line in journal)
        judge(self.folder, "contest", "export", "public", "ladder")
        verified = [
            run(self.folder, [sys.executable, "-m", "judge.cli", "contest", "verify", "public", "--key", KEY]),
            run(self.folder, ["node", "public/verify.mjs", "public", KEY]),
        ]
        submissions = json.loads(judge(self.folder, "submissions", "list", "ladder", "--json"))
        records = [
            json.loads(path.read_bytes())["record"] for path in sorted((self.folder / "public/records").glob("*.json"))
        ]
        waits = waiting_times(journal, records, submissions)
        failed = Counter(seat["fault"] for record in records for seat in record["seats"] if seat["fault"])
        return {
            "is_good": code == 0 and not any(code for code, _ in verified) and self.kills == Counter(KILLED),
            "minutes": round(self.seconds / 60, 1),
            "games": len(records),
            "agents": len({seat["name"] for record in records for seat in record["seats"]}),
            "kills": dict(self.kills),
            "journal": dict(events),
            "submissions": dict(Counter(each["state"] for each in submissions)),
            "uploads_refused": self.refused,
            "faults": dict(failed),
            "seconds_to_first_game": waits,
            "judge contest verify": [verified[0][0], verified[0][1].splitlines()[-1]],
            "verify.mjs": [verified[1][0], verified[1][1].splitlines()[-1]],
        }


KEY = "ladder/organiser.pem"
KILLED = {"service": KILLS, "runner": KILLS}


def round_robin(folder: Path, cycles: int) -> Mapping[str, Any]:
    """Let the agents of the ladder meet in a round robin; return both ratings and their rank correlation."""
    judge(folder, "contest", "init", "round-robin", "--from", "ladder")
    file = folder / "round-robin/contest.toml"
    file.write_text(as_round_robin(file.read_text(), cycles))
    judge(folder, "contest", "run", "round-robin", "--now")
    ladder = json.loads(judge(folder, "contest", "standings", "ladder", "--json"))["ladder"]
    table = json.loads(judge(folder, "contest", "standings", "round-robin", "--json"))["lines"]
    points = {line["agent"]: line["points"] for line in table}
    both = sorted(points.keys() & ladder.keys() - out_of(folder, "ladder") - out_of(folder, "round-robin"))
    return {
        "agents": {name: [round(ladder[name]["elo"]), round(ladder[name]["reach"]), points[name]] for name in both},
        "pairs_in_the_same_order": agreement([ladder[name]["elo"] for name in both], [points[name] for name in both]),
    }


def out_of(folder: Path, contest: str) -> Set[str]:
    """Disqualified agents."""
    return set(json.loads(judge(folder, "contest", "status", contest, "--json"))["disqualified"])


def as_round_robin(plan: str, cycles: int) -> str:
    """A ladder's contest file with another format."""
    form = f'[format]\nname = "round-robin"\ngames = {2 * cycles}\n\n'
    text = re.sub(r"(?ms)^\[format\].*?(?=^\[|\Z)", form, plan)
    return re.sub(r"(?ms)^\[ratings\].*?(?=^\[|\Z)", "", text)


def agreement(first: Sequence[float], second: Sequence[float]) -> float:
    """Share of the pairs that both lists order in the same way; pairs that are equal in one of them do not count."""
    signs = [
        (first[one] - first[other]) * (second[one] - second[other]) for one, other in combinations(range(len(first)), 2)
    ]
    return round(sum(sign > 0 for sign in signs) / max(1, sum(sign != 0 for sign in signs)), 3)


def waiting_times(
    journal: Sequence[Mapping[str, Any]], records: Sequence[Mapping[str, Any]], submissions: Sequence[Mapping[str, Any]]
) -> Mapping[str, Sequence[float]]:
    """Per submission that played: seconds from its upload and from its passed check until its first rated game."""
    passed = {
        int(found[1]): datetime.fromisoformat(line["at"])
        for line in journal
        if line["event"] == "passed" and (found := re.match(r"submission (\d+):", line["text"]))
    }
    waits: dict[str, Sequence[float]] = {}
    for submission in submissions:
        starts = [
            start
            for record in records
            if any(seat["digest"] == submission["agent"] for seat in record["spec"]["seats"])
            # A listed agent with the same files may have played before.
            and (start := datetime.fromisoformat(record["started_at"]))
            >= datetime.fromisoformat(submission["received_at"])
        ]
        if submission["id"] in passed and starts:
            first, received = min(starts), datetime.fromisoformat(submission["received_at"])
            until = (first - received).total_seconds(), (first - passed[submission["id"]]).total_seconds()
            waits[f"{submission['name']} {submission['version']}"] = [round(each, 1) for each in until]
    return waits


if __name__ == "__main__":
    try:
        app()
    except (InputError, HostError) as error:
        sys.exit(f"rehearse: {error}")
