"""A contest of two authors with secrets, and its whole service in this process."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from judge.contest.attempts import outcome_and_record
from judge.contest.entries import intake_directory
from judge.contest.plan import load_plan
from judge.journal.events import WorkerJoined
from judge.notices.sender import new_secret
from judge.record.spec import GameSpec, SeatSpec
from judge.store.practice_games import PracticeResult
from judge.store.types import ProcessingResult, Upload, UploadStep
from judge.submissions.check import Finding, Grade
from judge.submissions.service import IntakeDirectory
from tests.broadcast.logs import accept, play_next, recorder
from tests.publish.cups import SECRET, Cast, Cup, crasher, player, referee
from tests.web.intake.standing_in import check_report
from tests.web.organisers import office
from tests.web.service import Answer, call, service_of

AUTHORS = {"ada": "anna", "eve": "crasher"}
"""The agents of the authors."""

CAST: Cast = {"anna": player("anna", 0.95), "crasher": crasher("crasher", 1)}
"""One of them loses by a fault, which the pages of both explain."""

HOUSE = "house"
"""The opponent in practice games."""

HOSTS = ("host-7", "host-8")
"""The machines that play, of 2 and 3 slots."""

PATIENCE = office.PATIENCE.replace("[broadcast]", "uploads_per_hour = 3\n[broadcast]")


def mark(author: str) -> str:
    """A text in everything that an author has sent."""
    return f"private-words-of-{author}"


def other_of(author: str) -> str:
    return next(each for each in AUTHORS if each != author)


def secrets(author: str) -> Sequence[bytes]:
    """What nobody but this author may see."""
    agent = AUTHORS[author]
    return [mark(author).encode(), f"{SECRET} {agent}".encode(), f"{SECRET} of {agent}".encode()]


@dataclass
class Served:
    """The service, and what an author has."""

    service: ASGIApp
    directory: IntakeDirectory
    tokens: Mapping[str, str]

    def ask(self, method: str, path: str, token: str = "", **more: Any) -> Answer:
        headers = {**more.pop("headers", {}), **({"cookie": f"judge-author={token}"} if token else {})}
        status, answered, body = asyncio.run(call(self.service, method, path, headers, **more))
        return status, {name: value for name, value in answered.items() if name != "x-request-id"}, body

    def page(self, path: str, author: str) -> str:
        status, _, body = self.ask("GET", path, self.tokens[author])
        assert 200 == status, (path, status)
        return body.decode()

    def seat(self, author: str, game: str) -> int:
        """The seat of an author's agent in a game or an attempt."""
        paths = [f"/author/{game}.seat-{seat}.json" for seat in (0, 1)]
        return [self.ask("GET", path, self.tokens[author])[0] for path in paths].index(200)


@contextmanager
def served(folder: Path, games: int = 2, *, is_over: bool = False) -> Iterator[Served]:
    """A contest of which all games are over but the last; or all if it `is_over`."""
    with ExitStack() as stack:
        # The submissions are numbered before the contest begins.
        numbers = {agent: number for number, agent in enumerate(AUTHORS.values(), 1)}
        form = f'name = "round-robin"\ngames = {games}'
        cup = stack.enter_context(Cup(folder, CAST, form=form, more=PATIENCE, submissions=numbers))
        directory = intake_directory(load_plan(folder))
        notices = stack.enter_context(closing(directory.notices()))
        notices.derive()
        for author in AUTHORS:
            notices.set_webhook(author, f"https://{mark(author)}.example.org/", new_secret())
        for author, agent in AUTHORS.items():
            _submit(directory, author, agent)
        log = stack.enter_context(recorder(cup))
        for slots, host in enumerate(HOSTS, 2):
            cup.store.remark(cup.contest.name, WorkerJoined(host, slots))
        for _ in range(games - 1):
            accept(cup, *play_next(cup))
        game, file = play_next(cup)
        outcome, data = outcome_and_record(file)
        cup.contest.files.put(data)
        cup.store.void(game.id, game.attempt, "others used its core", outcome.record, 3, outcome.public)
        if is_over:
            accept(cup, *play_next(cup))
        log.read_store()
        log.finish()
        service, console = stack.enter_context(service_of(folder))
        for author, agent in AUTHORS.items():
            _practise(cup, directory, author, agent)
        notices.derive()
        tokens = console.state.authors.tokens
        made = {author: tokens.make(author, "organiser") for author in AUTHORS}
        yield Served(service, directory, made)


def _practise(cup: Cup, directory: IntakeDirectory, author: str, agent: str) -> None:
    """A submission that passed, and one practice game of it that is over, in which the agent had the second seat."""
    with closing(directory.register()) as register, closing(directory.practice_games()) as games:
        upload = Upload(author, "", f"{mark(author)}.tar", directory.files.put(b"y"), 10)
        taken = register.receive(upload, worker="0" * 32)
        register.finish(taken.id, taken.attempt, ProcessingResult("", agent, None, "{}", None, None), practice=1)
        game = games.take("0" * 32)
        assert game is not None
        seats = [
            SeatSpec(name=name, digest="a" * 64, command=("./a",), runtime="native", protocol="gomocup")
            for name in (HOUSE, agent)
        ]
        spec = GameSpec(seats=(seats[0], seats[1]), policy=cup.planned.policy, seed=game.id)
        record = referee(spec, [player(HOUSE, 1)(0), cup.cast[agent](0)])
        digest = directory.practice_records.put(record.to_json())
        said = record.record
        result = PracticeResult(agent, HOUSE, 1, said.verdict.value, said.winner, said.reason, digest, said.seconds)
        games.finish(game.id, game.attempt, result)


def _submit(directory: IntakeDirectory, author: str, agent: str) -> None:
    """A submission that was refused by the check, in words of its author."""
    words = mark(author)
    with closing(directory.register()) as register:
        digest = directory.files.put(words.encode())
        taken = register.receive(Upload(author, "", f"{words}.zip", digest, 10), worker="0" * 32)
        register.step(taken.id, UploadStep("received", True, f"{words}, 10 bytes", 0.1, attempt=taken.attempt))
        register.step(taken.id, UploadStep("checked", False, f"it failed: {words}", 2.5, attempt=taken.attempt))
        stderr = ("   1  Traceback", "   2  KeyError")
        finding = Finding(
            check="time", tried="a turn", grade=Grade.FAIL, evidence=words, fix=f"think less, {words}", stderr=stderr
        )
        report = check_report(agent, digest, finding)
        log = directory.files.put(f"cc {words}".encode())
        stored = directory.files.put(report.model_dump_json().encode())
        result = ProcessingResult(f"it failed: {words}", agent, None, None, log, stored)
        register.finish(taken.id, taken.attempt, result)
