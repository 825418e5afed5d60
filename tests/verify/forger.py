"""Contests that were published, in the hands of their organiser: he changes them, makes the rest fit, and signs again.

The clock of these contests makes a second of every line, so one that is begun again has the same log as far as the same
happens in it.
"""

import hashlib
import json
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.contest_games import GameState, PublishedGame, schedule_digest
from judge.contest_view.export import CHANCE, DOCUMENT, load_export
from judge.contest_view.values import conditions_of, outcome_of
from judge.contest_view.view import ContestView
from judge.journal.events import Accepted, ImagesChanged, LockedIn, Scheduled
from judge.publish.tables import tables
from judge.record.spec import GameSpec, RecordFile, public_part, read_record
from judge.record.transcript import SealedTranscript, _digest_and_entries
from judge.store.contests import Store
from judge.testing import Agent
from judge.tournament.snapshot import terms_digest
from judge.transparency.merkle import Tree
from tests.contest.cups import CHANCE as SECRET
from tests.contests import Recipe, nothing, steady_clock
from tests.publish.cups import STRONG_TO_WEAK, Cast, Cup, Player, crasher, referee, where_and_when
from tests.publish.public import Public, change, sign_again
from tests.verify.log_forgeries import lines_of, with_event, write_log

CRASHER = "crash.test"
"""The agent that is at fault."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """How a contest is played. `is_fixed`: no game of its schedule depends on a result; `is_long`: it has games enough
    for tests of its machines."""

    plan: str
    agents: Sequence[str]
    more: str = ""
    is_fixed: bool = False
    is_long: bool = False

    @property
    def cast(self) -> Cast:
        return {name: crasher(name, 2) if name == CRASHER else STRONG_TO_WEAK[name] for name in self.agents}

    @property
    def recipe(self) -> Recipe:
        return Recipe("forged", self.cast, self.plan, self.more, happens, options={"drawn": nothing})


FORMS = {
    "round-robin": Form('name = "round-robin"\ngames = 2', ("anna", "bert", CRASHER), is_fixed=True),
    "gauntlet": Form(
        'name = "gauntlet"\ngames = 8\nranking = ["points", "elo", "time"]',
        ("anna", "bert", "-carl", CRASHER),
        is_fixed=True,
        is_long=True,
    ),
    "swiss": Form('name = "swiss"\nrounds = 3\ngames = 1', tuple(STRONG_TO_WEAK)),
    "knockout": Form('name = "knockout"\ngames = 2', ("bert", "-carl", "dora", CRASHER)),
    "duels": Form(
        'name = "round-robin"\ngames = 2\nranking = ["points", "ratio", "buchholz", "time"]',
        ("anna", "bert", CRASHER),
        "[duel]\nwin = 3\n[failures]\nafter = 2\nlimit = 0.4",
    ),
}

VOID = 2
"""The game that is void once, before it is played."""


def hold(
    folder: Path,
    key: Ed25519PrivateKey,
    form: Form,
    cast: Cast | None = None,
    between: Callable[[Store], object] = nothing,
    secret: str = SECRET,
) -> Public:
    """Play and publish a contest, with what `happens`.

    `between` happens between the announcement and the freeze.
    """
    with (
        steady_clock(),
        Cup(folder / "cup", cast or form.cast, form.plan, form.more, drawn=between, secret=secret) as cup,
    ):
        happens(cup)
        return cup.export(folder, key)


def happens(cup: Cup) -> None:
    """A game is void once, and its organiser adds a remark when a third of the contest is over."""
    cup.play(3, [VOID])
    cup.store.remark("spring-cup", ImagesChanged("a power cut"))
    cup.play()


class Forger:
    """An organiser with a copy of an export of his, which he may change.

    `chance` chooses where. `lines` are those of the journal that `fit` writes, with the digests of its leaves.
    """

    def __init__(self, public: Public, form: Form, folder: Path, chance: random.Random) -> None:
        self.public = public.copy_to(folder)
        self.form = form
        self.folder = folder
        self.chance = chance
        self.directory = self.public.directory
        self.lines = lines_of(self.directory)

    def rows(self, table: str) -> list[Row]:
        rows: list[Row] = json.loads((self.directory / f"data/{table}.json").read_bytes())
        return rows

    def game(self, test: Callable[[Row], object] = lambda _: True) -> Row:
        return self.chance.choice([row for row in self.rows("games") if row["state"] == GameState.DONE and test(row)])

    def files(self, *patterns: str) -> list[Path]:
        found = {path for pattern in patterns or ("**/*",) for path in self.directory.glob(pattern)}
        return sorted(path for path in found if path.is_file())

    @property
    def drawn(self) -> int:
        """How many lines the log has when the entries are frozen."""
        return [type(line.change) for line in self.lines].index(LockedIn) + 1

    def in_table(self, name: str, how: Callable[[Any], object]) -> None:
        change(self.directory / f"data/{name}.json", how)

    def in_record(self, path: str, how: Callable[[Any], object]) -> None:
        """Change a record, and make the digest of its transcript fit."""

        def changed(file: Any) -> None:
            how(file)
            digest = _digest_of(SealedTranscript.model_validate(file["transcript"]))
            file["transcript"]["sha256"] = file["record"]["transcript_sha256"] = digest

        change(self.directory / path, changed)

    def in_document(self, how: Callable[[Any], object]) -> None:
        path = self.directory / DOCUMENT
        document = json.loads(path.read_bytes())
        how(document)
        path.write_text(f"{json.dumps(document)}\n")

    def play(self, spec: GameSpec, attempt: int, winner: int | None = None) -> RecordFile:
        """Play a game until he likes who wins it; None: whoever."""
        while True:
            agents: list[Agent] = [Player(seat.name, self.chance.random(), self.chance.randrange(999))
                                   for seat in spec.seats]  # fmt: skip
            file = referee(spec, agents)
            if winner is None or file.record.winner == winner:
                number = spec.number
                record = file.record.model_copy(
                    update={"attempt": attempt, **where_and_when(spec, number, self.lines[0].at[:10])}
                )
                return public_part(RecordFile(record=record, transcript=file.transcript))

    def play_again(self, path: str, winner: int | None = None) -> None:
        """Play the game of a record again, from the same opening and with the same chance."""
        record = read_record(self.directory / path).record
        (self.directory / path).write_bytes(self.play(record.spec, record.attempt, winner).to_json())

    def sign(self) -> None:
        sign_again(self.public)

    def fit(self) -> None:
        """Make all that is computed fit contest.json, the records, the schedule and the lines, and sign it."""
        self._fit_draw()
        contest, _ = load_export(self.directory)
        numbers = {row["id"]: row["number"] for row in self.rows("games")}
        ids = {game.number: game.id for game in contest.games}
        self.lines = [
            line if line.game is None else replace(line, game=ids.get(numbers.get(line.game, 0), line.game))
            for line in self.lines
        ]
        contest = replace(contest, games=[self._fitted(game) for game in contest.games])
        self._fit_lines(contest)
        for name, data in tables(replace(contest, journal=self.lines)).items():
            (self.directory / "data" / name).write_bytes(data)
        write_log(self.public, self.lines)

    def _fit_draw(self) -> None:
        text = (self.directory / DOCUMENT).read_text()
        document, leaves = json.loads(text), self.drawn
        terms = terms_digest(text)
        self.lines[0] = replace(self.lines[0], digest=document["commitment"])
        self.lines[leaves - 1] = replace(self.lines[leaves - 1], digest=terms)
        root = Tree(line.leaf for line in self.lines[:leaves]).root().hex()
        fitting = document["freeze"] | {"leaves": leaves, "root": root, "entries": terms}
        if fitting != document["freeze"]:
            self.in_document(lambda each: each.update(freeze=fitting))

    def _fitted(self, game: PublishedGame) -> PublishedGame:
        """A game with the result that its record claims; records are of the games of the schedule."""
        paths = [game.attempt_path(attempt.number) for attempt in game.uncounted]
        paths += [game.record_path] if game.state == GameState.DONE else []
        for path in paths:
            file = json.loads((self.directory / path).read_bytes())
            spec, old = json.loads(game.spec), file["record"]["spec"]
            for seat, of_old in zip(spec["seats"], old["seats"], strict=True):
                seat["folders"] = of_old["folders"]
            spec |= {"opening": old["opening"], "seed": old["seed"], "scheduled_as": game.id}
            if spec != old:
                file["record"].update(spec=spec, id=game.id)
                for seat, of_spec in zip(file["record"]["seats"], spec["seats"], strict=True):
                    seat["name"] = of_spec["name"]
                (self.directory / path).write_text(json.dumps(file))
        if game.state != GameState.DONE:
            return game
        file = read_record(self.directory / game.record_path)
        outcome = outcome_of(file, "")
        return replace(game, result=outcome.row(game, game.attempt), conditions=conditions_of(file.record))

    def _fit_lines(self, contest: ContestView) -> None:
        """The digests of what the lines tell of, and the words about results."""
        games = {game.id: game for game in contest.games}
        waiting = sorted(contest.games, key=lambda game: game.number)
        rounds = sum(line.event == "scheduled" for line in self.lines)
        for number, line in enumerate(self.lines):
            game = games.get(line.game or "")
            if line.event == "created":
                self.lines[number] = replace(line, digest=self._digest(DOCUMENT))
            elif isinstance(line.change, Scheduled):
                rounds -= 1
                now = waiting[: line.change.games] if rounds else waiting
                waiting = waiting[len(now) :]
                self.lines[number] = replace(with_event(line, Scheduled(len(now))), digest=schedule_digest(now))
            elif line.event == "accepted" and game is not None and game.result is not None:
                result, digest = game.result, self._digest(game.record_path)
                place = (game.id, line.attempt or 0)
                event = Accepted(*place, result.reason, winner=result.winner) if result.winner else line.change
                self.lines[number] = replace(with_event(line, event), digest=digest)
            elif line.event == "void" and game is not None and line.digest is not None:
                self.lines[number] = replace(line, digest=self._digest(game.attempt_path(line.attempt or 0)))

    def _digest(self, name: str) -> str:
        return hashlib.sha256((self.directory / name).read_bytes()).hexdigest()

    def begin_again(
        self, cast: Cast | None = None, between: Callable[[Store], object] = nothing, secret: str = SECRET
    ) -> None:
        folder = self.folder / "again"
        folder.mkdir()
        self.public = hold(folder, self.public.key, self.form, cast, between, secret)
        self.directory = self.public.directory
        self.lines = lines_of(self.directory)

    def drop_log(self) -> None:
        shutil.rmtree(self.directory / "log")

    def reveal(self, secret: str) -> None:
        commitment = hashlib.sha256(bytes.fromhex(secret)).hexdigest()
        change(self.directory / CHANCE, lambda each: each.update(secret=secret, commitment=commitment))
        self.in_document(lambda each: each.update(commitment=commitment))


def _digest_of(transcript: SealedTranscript) -> str:
    chain = hashlib.sha256()
    for block in transcript.blocks:
        chain.update(_digest_and_entries(block)[0] + bytes.fromhex(block.private_sha256))
    return chain.hexdigest()
