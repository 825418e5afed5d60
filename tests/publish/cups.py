"""Contests in a store, played by scripts in a world: no Engine, and every record verifies."""

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.agents.program_files import program_digest
from judge.base.errors import InputError
from judge.contest.attempts import outcome_and_record
from judge.contest.contest import Contest
from judge.contest.plan import load_plan
from judge.contest.runner import Scheduler
from judge.contest.take_snapshot import frozen
from judge.contest_games import ScheduledGame
from judge.games.gomoku.requests import Square
from judge.games.types import Opening, Verdict
from judge.protocols import protocol_entry
from judge.publish.export.export import PageOptions, publish
from judge.record.spec import FolderRecord, GameSpec, Placement, RecordFile, SeatSpec
from judge.record.transcript import EntryKind, mark_private, seal, unseal
from judge.referee.referee import Referee
from judge.referee.replay import Replay, rejoined
from judge.referee.requests import drive
from judge.referee.setup import build_referee
from judge.referee.verify import plies_of
from judge.store.contests import Store
from judge.store.submission_queries import RegisterReader
from judge.store.types import EntryRow
from judge.testing import Act, Agent, Do, Say, World, dies, exits
from judge.tournament.snapshot import (
    Snapshot,
    SnapshotEntry,
    SnapshotImage,
    SnapshotWitness,
    commitment_to,
    terms_digest,
)
from judge.transparency.keys import make_key
from tests.contest.cups import CHANCE
from tests.publish.public import Public
from tests.referee.games import a_record, resealed

SECRET = "my-evaluation-of-the-corner"
"""A text that no author wants to publish: agents write it in DEBUG lines and to stderr."""

FORMS: Sequence[tuple[str, str, str]] = (
    ("{secret}\r\n", "{move}\r\n", ""),
    ("", "{move}\r\n{secret}\r\n", ""),
    ("", "{move}\r\n|{secret}\r\n", ""),
    ("", "{move}\r\n|{begun}", "{ended}\r\n"),
    ("", "{move}\r\n{begun}", "{ended}\r\n"),
    ("", "{move}\r\n{secret}", "\r\n"),
    ("", "{move}\r{secret}\r", ""),
    ("", "{move}\n{long}\n", ""),
    ("{begun}|{ended}\n", "{move}\n{secret}\n{secret}|\n{secret}\n", ""),
    ("{secret}\nrubbish\n", "rubbish\n{move}\nrubbish\n{secret}\nrubbish\n", ""),
    ("  {secret}\n\n\t{secret}\n", "{move}\n\n {secret}\n", ""),
    ("", "{move}\n{keyword}", "{behind}\n"),
)
"""Ways to say something private around a move: before it, with it, and at the next request; `|` is the end of a write.
Each of them is used with each way of writing DEBUG."""

KEYWORDS = ("DEBUG", "debug", "DeBuG")

_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Player:
    """A brain that extends its longest row most of the time; `skill` 0 to 1 is how often."""

    def __init__(self, name: str, skill: float, seed: int, size: int = 15) -> None:
        self._name = name
        self._skill = skill
        self._chance = random.Random(f"{name} {seed}")
        self._size = size
        self._own: set[Square] = set()
        self._beside_own: set[Square] = set()
        self._all: set[Square] = set()
        self._reads_board = False
        self._unsaid = ""

    def __call__(self, line: str) -> Sequence[Act]:
        word, _, rest = line.partition(" ")
        if self._reads_board:
            return self._board(line)
        match word:
            case "START" | "RECTSTART":
                return [Say(f"OK\r\nDEBUG {SECRET} {self._name}\r\nDEBUG and more\r\n".encode(), 3)]
            case "ABOUT":
                about = f'name="{self._name}", version="1.0"\r\nDEBUG {SECRET} {self._name}\r\n'
                return [Say(about.encode())]
            case "BOARD":
                self._reads_board = True
                return []
            case "BEGIN":
                return self._move()
            case "TURN":
                x, y = map(int, rest.split(","))
                self._all.add((x, y))
                return self._move()
            case "END":
                return exits(0)
            case _:
                return []

    def _board(self, line: str) -> Sequence[Act]:
        if line == "DONE":
            self._reads_board = False
            return self._move()
        x, y, whose = map(int, line.split(","))
        self._all.add((x, y))
        if whose == 1:
            self._have((x, y))
        return []

    def _have(self, square: Square) -> None:
        self._own.add(square)
        self._beside_own |= {(square[0] + dx, square[1] + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}

    def _move(self) -> Sequence[Act]:
        chance = self._chance
        free = [(x, y) for x in range(self._size) for y in range(self._size) if (x, y) not in self._all]
        if chance.random() < self._skill:
            square = max(free, key=lambda at: (self._row(at), -abs(at[0] - 7) - abs(at[1] - 7)))
        else:
            square = chance.choice(free)
        self._have(square)
        self._all.add(square)
        ms = chance.lognormvariate(4, 1)
        before, move = self._say(square)
        message = f"MESSAGE depth {chance.randint(3, 12)} ev {chance.randint(-99, 99)}\r\n"
        return [
            *before,
            Say(message.encode()),
            Do(EntryKind.STDERR, f"{SECRET} of {self._name}: {square}\n".encode()),
            replace(move[0], ms=ms),
            *move[1:],
        ]

    def _say(self, square: Square) -> tuple[list[Say], list[Say]]:
        """What is written before a move and with it, in the form whose turn it is."""
        number = len(self._own) - 1
        keyword = KEYWORDS[number // len(FORMS) % len(KEYWORDS)]
        behind = f" {SECRET} {self._name} {len(self._all)}"
        words = {
            "move": f"{square[0]},{square[1]}",
            "secret": keyword + behind,
            "begun": keyword[:3],
            "ended": keyword[3:] + behind,
            "keyword": keyword,
            "behind": behind,
            "long": f"{keyword} {'x' * 9000}{behind}",
        }
        before, now, self._unsaid, unsaid = *FORMS[number % len(FORMS)], self._unsaid
        before = unsaid + ("|" if unsaid else "") + before
        texts = [text.format(**words).encode().split(b"|") for text in (before, now)]
        self._unsaid = self._unsaid.format(**words)
        first, second = ([Say(part, 0) for part in parts if part] for parts in texts)
        return first, second

    def _row(self, square: Square) -> int:
        if square not in self._beside_own:
            return 0
        return max(self._run(square, dx, dy) for dx, dy in _DIRECTIONS)

    def _run(self, square: Square, dx: int, dy: int) -> int:
        count = 0
        for sign in (1, -1):
            x, y = square[0] + sign * dx, square[1] + sign * dy
            while (x, y) in self._own:
                count += 1
                x, y = x + sign * dx, y + sign * dy
        return count


def crasher(name: str, after: int) -> Callable[[int], Agent]:
    """A player that is ended by a signal after so many moves."""

    def make(seed: int) -> Agent:
        player, moves = Player(name, 0.5, seed), iter(range(after))

        def hear(line: str) -> Sequence[Act]:
            acts = player(line)
            is_move = line.startswith(("BEGIN", "TURN", "DONE"))
            return dies(11) if is_move and next(moves, None) is None else acts

        return hear

    return make


def player(name: str, skill: float) -> Callable[[int], Agent]:
    return lambda seed: Player(name, skill, seed)


def luck(spec: GameSpec) -> int:
    """A small number for each game, by its seed."""
    seed = spec.seed if isinstance(spec.seed, int) else int(spec.seed, 16)
    return seed % 1000 + spec.number


Cast = Mapping[str, Callable[[int], Agent]]
"""For each agent what makes it, given a game's seed."""

PLAN = """\
name = "{name}"
about = "{about}"
policy = "gomocup-standard"
{seed}
{more}
[format]
{format}

{agents}
"""


def referee(spec: GameSpec, agents: Sequence[Agent]) -> RecordFile:
    """Play a game in a world; mark the private parts of its transcript as `play` does."""
    world = World(*agents, ponders=spec.policy.clock.ponder)
    world.memory_bytes = [5 << 20, 6 << 20]
    done: Referee = build_referee(spec)
    end = drive(done.requests(), world)
    tests = [protocol_entry(seat.protocol).is_private for seat in spec.seats]
    sealed = seal(mark_private(world.entries, lambda seat, line: tests[seat](line)))
    return RecordFile(record=a_record(spec, end, done, sealed), transcript=sealed)


def voided(file: RecordFile) -> RecordFile:
    """The record of a game that the host ended in the middle of its turns."""
    entries = unseal(file.transcript)
    entries = entries[: len(entries) // 2]
    referee = build_referee(file.record.spec)
    with suppress(InputError):
        Replay(referee, rejoined(entries)).finish()
    seats = []
    for seat, spec in zip(file.record.seats, file.record.spec.seats, strict=True):
        starts = spec.folders.digests if spec.folders else {}
        folders = {kind: FolderRecord(digest=digest) for kind, digest in starts.items()}
        seats.append(seat.model_copy(update={"fault": None, "why": "", "evidence": None, "folders": folders}))
    values = {
        "verdict": Verdict.VOID,
        "winner": None,
        "reason": VOID_REASON,
        "result": "",
        "seats": tuple(seats),
        "plies": plies_of(referee),
    }
    return resealed(file, entries, **values, unclosed="")


VOID_REASON = "the Engine was gone"


ENGLISH = PageOptions(languages=("en",))


class Cup:
    """A contest that is played by a cast."""

    def __init__(
        self,
        folder: Path,
        cast: Cast,
        form: str = 'name = "round-robin"\ngames = 2',
        more: str = "",
        about: str = "A small cup between scripts.",
        seed: int | None = None,
        openings: Sequence[Opening] = (),
        drawn: Callable[[Store], object] | None = None,
        secret: str = CHANCE,
        submissions: Mapping[str, int] | None = None,
        name: str = "spring-cup",
        version: str = "",
        titles: Mapping[str, str] | None = None,
        first: int | None = None,
    ) -> None:
        """`titles`: display names. `first`: number of agents that take part from the start; None: all. `openings` are
        played in their order; without them three are, in an order that chance decides.

        `version` is added to the agents' files. `drawn`: begun as `judge contest run` does, with what happens between
        the announcement and the freeze.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._entered = list(cast)[:first]
        agents = "".join(f'[[agents]]\npath = "{name}"\n' for name in self._entered)
        fixed = "" if seed is None else f"seed = {seed}"
        plan = PLAN.format(name=name, about=about, format=form, agents=agents, more=more, seed=fixed)
        (folder / "contest.toml").write_text(plan)
        self.folder = folder
        self.cast = cast
        self.openings = tuple(openings)
        self._version = version
        self._submissions = submissions or {}
        self._titles = titles or {}
        self.planned = load_plan(folder / "contest.toml")
        self.store = Store(self.planned.store_url)
        commitment = commitment_to(secret) if seed is None else None
        snapshot = self._frozen().model_copy(update={"commitment": commitment})
        if drawn is not None:
            self.store.announce(snapshot.name, secret, commitment, self.planned.announced)
            drawn(self.store)
            day = {"frozen_at": f"{day_of(self.store, snapshot.name)}T18:00:00+00:00"}
            snapshot = snapshot.model_copy(update=day)
            terms = terms_digest(snapshot.model_dump_json())
            register = RegisterReader.for_contest(self.store, snapshot.name)
            sent = [(each.id, each.title, each.digest) for each in register.first_entries()]
            snapshot = snapshot.model_copy(update={"freeze": frozen(self.store, snapshot.name, terms, sent)})
        entered = [EntryRow(each.name, each.rank, each.model_dump_json()) for each in snapshot.entries]
        chance = secret if seed is None else None
        self.store.create(snapshot.name, snapshot.model_dump_json(), entered, chance, snapshot.withheld_from)
        self.contest = Contest(self.store, self.planned)
        Scheduler(self.contest).schedule_next()

    @classmethod
    def opened(cls, folder: Path, cast: Cast) -> Self:
        cup = cls.__new__(cls)
        cup.folder, cup.cast, cup._version = folder, cast, ""
        cup.planned = load_plan(folder / "contest.toml")
        cup.store = Store(cup.planned.store_url)
        cup.contest = Contest(cup.store, cup.planned)
        return cup

    def _frozen(self) -> Snapshot:
        plan, policy = self.planned.plan, self.planned.policy
        entries = tuple(
            SnapshotEntry(
                name=name,
                rank=rank,
                seat=SeatSpec(
                    name=name,
                    digest=self.store_files(name),
                    command=("./a",),
                    runtime="native",
                    protocol="gomocup",
                    author=f"author of {name}",
                ),
                calls_itself=name,
                description="A script.",
                submission=self._submissions.get(name),
                title=self._titles.get(name, ""),
            )
            for rank, name in enumerate(self._entered, 1)
        )
        return Snapshot(
            judge="0.1.0",
            name=plan.name,
            title=plan.title,
            about=plan.about,
            frozen_at="2013-03-01T18:00:00+00:00",
            plan_sha256="0" * 64,
            policy=policy,
            format=plan.format,
            clocks=plan.clocks,
            failures=plan.failures,
            withholding=plan.freeze_terms,
            seed=plan.seed,
            witnesses=tuple(SnapshotWitness(key=each.key) for each in plan.witnesses),
            commitment=commitment_to(CHANCE) if plan.seed is None else None,
            openings=self.openings or (((7, 7), (8, 8)), ((7, 7), (7, 8)), ((6, 7), (9, 8))),
            shuffle=not self.openings,
            transform=False,
            entries=entries,
            images={"native": SnapshotImage(id="sha256:" + "1" * 64, content="2" * 64)},
            host={"cpu": "a processor", "cores": 2, "kernel": "6.1"},
        )

    def store_files(self, name: str) -> str:
        """Store the files of an agent, which are never run; their digest."""
        place = self.planned.agents / "staged"
        place.mkdir(parents=True, exist_ok=True)
        (place / "a").write_text(name + self._version)
        digest = program_digest(place)
        if not (self.planned.agents / digest).exists():
            place.rename(self.planned.agents / digest)
        return digest

    def play(self, most: int = 1_000_000, void: Sequence[int] = (), slots: int = 1) -> None:
        play(self.contest, self.cast, most, void, slots)

    def export(self, folder: Path, key: Ed25519PrivateKey | None = None, pages: PageOptions = ENGLISH) -> Public:
        """Export the contest to `folder / "public"`; without a key with one that is made there."""
        folder.mkdir(parents=True, exist_ok=True)
        public = Public(folder, key or make_key(folder / "organiser.key"))
        publish(self.contest, public.directory, public.private, public.key, pages)
        return public

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def play(contest: Contest, cast: Cast, most: int = 1_000_000, void: Sequence[int] = (), slots: int = 1) -> None:
    """Play up to `most` games; those of the numbers in `void` are void once, before they are played. Games in several
    slots end in another order than they begin.
    """
    store, name = contest.store, contest.name
    scheduler = Scheduler(contest)
    voids = set(void)
    running: list[ScheduledGame] = []
    for turn in range(most):
        while len(running) < slots:
            started = store.issue(name, "here", contest.alone)
            if started is None and scheduler.schedule_next():
                started = store.issue(name, "here", contest.alone)
            if started is None:
                break
            running.append(started)
        if not running:
            return
        issued = running.pop(7 * turn % len(running))
        spec = contest.job(issued).spec()
        file = referee(spec, [cast[seat.name](luck(spec)) for seat in spec.seats])
        is_void = spec.number in voids
        file = voided(file) if is_void else file
        record = file.record.model_copy(
            update={"attempt": issued.attempt, **where_and_when(spec, issued.number, day_of(store, name))}
        )
        outcome, data = outcome_and_record(RecordFile(record=record, transcript=file.transcript))
        contest.files.put(data)
        if is_void:
            voids.remove(spec.number)
            store.void(issued.id, issued.attempt, VOID_REASON, outcome.record, 3, outcome.public)
            continue
        store.accept(issued.id, issued.attempt, outcome)


def day_of(store: Store, name: str) -> str:
    """The day of the last line of a contest's journal, in UTC."""
    return store.journal(name)[-1].at[:10]


def where_and_when(spec: GameSpec, number: int, day: str) -> dict[str, Any]:
    """Two slots on each of two hosts play in turns, a game a minute from 18:00 on."""
    began = datetime.fromisoformat(f"{day}T18:00:00+00:00") + timedelta(minutes=number % 300)
    place = Placement(
        box=("world", "world"), judge_cores=(0,), slot_cores=(1 + number % 2,), host=f"host-{number // 2 % 2}"
    )
    if spec.policy.clock.ponder:
        seat_cores = ((1 + number % 2,), (3 + number % 2,))
        place = place.model_copy(update={"slot_cores": sum(seat_cores, ()), "seat_cores": seat_cores})
    return {"placement": place, "started_at": began.isoformat(timespec="seconds")}


STRONG_TO_WEAK: Cast = {
    "anna": player("anna", 0.95),
    "bert": player("bert", 0.8),
    "-carl": player("-carl", 0.6),
    "dora": player("dora", 0.4),
    "crash.test": crasher("crash.test", 6),
}
