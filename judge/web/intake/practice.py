"""Processes that play practice games in free slots."""

import time
from contextlib import closing
from threading import Event, Thread
from types import TracebackType

from sqlalchemy.exc import SQLAlchemyError

from judge.base.errors import JudgeError
from judge.base.logs import get_logger
from judge.base.scheduling import lower_priority
from judge.base.worker_processes import Worker, kill, wait
from judge.store.practice_games import PracticeGame, PracticeGames
from judge.submissions.practice import PracticeHost, play_next
from judge.submissions.service import IntakeDirectory, is_in_the_way, requeue_lost, working
from judge.web.intake.workers import GONE_S, prepare

POLL_INTERVAL_S = 0.1
RETRY_INTERVAL_S = 1.0
POLITE_S = 2.0

log = get_logger()


class PracticePlayers:
    """Practice processes of a service."""

    def __init__(self, directory: IntakeDirectory, host: PracticeHost, games: PracticeGames) -> None:
        self._directory = directory
        self._host = host
        self._games = games
        self._workers: list[Worker[PracticeGame | None]] = [Worker(_prepare) for _ in range(directory.intake.workers)]
        self._running: set[Worker[PracticeGame | None]] = set()
        self._end = Event()
        self._thread = Thread(target=self._run, name="practice")
        self._swept = -GONE_S

    def __enter__(self) -> "PracticePlayers":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()

    @property
    def pids(self) -> list[int]:
        """The players' process ids."""
        return [worker.pid for worker in self._running if worker.pid is not None]

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                self._look()
            except (JudgeError, SQLAlchemyError, OSError) as error:
                log.error("practice games cannot be played now", error=str(error))  # noqa: TRY400 - a sentence
                self._end.wait(RETRY_INTERVAL_S)
        kill(self._workers, POLITE_S)

    def _look(self) -> None:
        if time.monotonic() - self._swept > GONE_S:
            self._sweep()
        if self._games.is_due():
            for worker in self._workers:
                if worker not in self._running:
                    worker.start(play_job, self._directory, self._host)
                    self._running.add(worker)
        again = time.monotonic() + RETRY_INTERVAL_S
        while time.monotonic() < again and not self._end.is_set():
            if not self._running:
                self._end.wait(again - time.monotonic())
                return
            ended = [self._settle(worker) for worker in wait(self._running, POLL_INTERVAL_S)]
            if any(ended):
                return
            for worker in list(self._running):
                if worker.pid is not None and is_in_the_way(worker.pid):
                    kill([worker], POLITE_S)
                    self._running.discard(worker)
                    log.info("a practice game gave up its slot")
                    self._sweep()

    def _sweep(self) -> None:
        self._swept = time.monotonic()
        limits = self._directory.intake
        if forgotten := self._games.forget_records(limits.practice_days, self._directory.practice_records.remove):
            log.info("the records of practice games were removed", games=forgotten)
        for number in requeue_lost(self._directory, self._games):
            log.warning("the process that played it ended; it is played again", practice_game=number)

    def _settle(self, worker: Worker[PracticeGame | None]) -> PracticeGame | None:
        self._running.discard(worker)
        error = worker.exception()
        if error is not None:
            worker.kill()
            log.error("the worker of a practice game was lost", error=f"{type(error).__name__}: {error}")
            self._sweep()
            return None
        played = worker.result()
        if played is not None:
            log.info("practice game played", practice_game=played.id, attempt=played.attempt)
        return played


def play_job(directory: IntakeDirectory, host: PracticeHost) -> PracticeGame | None:
    """Play the next game. Return None without a game or slot."""
    with (
        working(directory) as name,
        closing(directory.register()) as register,
        closing(directory.practice_games()) as games,
    ):
        return play_next(directory, games, register, host, name)


def _prepare() -> None:
    prepare()
    lower_priority()
