"""Sends notices while a service runs: a thread looks for them, and others call the receivers, each author's one by one.

A notice counts as sent when its receiver has taken it, so one that was killed in between is sent again, with its id.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import IO

from sqlalchemy.exc import SQLAlchemyError

from judge.base.errors import InputError, JudgeError
from judge.base.locks import try_lock_directory
from judge.base.logs import get_logger
from judge.base.text import printable
from judge.notices.mail import read_password, send_mail
from judge.notices.policy import NoticePolicy, NoticePolicyFile
from judge.notices.webhook import NotDeliveredError, call_webhook
from judge.store.notices import GIVEN_UP, MAIL, WEBHOOK, Notice, Notices

LOOK_S = 0.5
"""How often it looks for what has happened; it looks at once when a receiver is through with a notice."""
MAILS_AT_ONCE = 2
SUBJECT_CHARACTERS, TEXT_CHARACTERS = 120, 2000

_STOP = "To stop these mails, ask the organiser of the contest."

log = get_logger()


class NoticeSender:
    """Sends the notices of a contest, as a context manager. Of several on a host one does."""

    def __init__(
        self,
        notices: Notices,
        contest: str,
        policy: NoticePolicy,
        folder: Path,
        locks: Path,
        plan: Path | None = None,
    ) -> None:
        """`folder` is the contest's; the one that sends locks the directory `locks`. `policy` applies until the file
        `plan` changes. Raises InputError for a password that others may read."""
        self._notices = notices
        self._contest = contest
        self._folder = folder
        self._file = NoticePolicyFile(policy, plan)
        self._policy = policy
        self._password = read_password(policy, folder)
        self._said = ""
        self._locks = locks
        self._end = Event()
        self._wake = Event()
        # Mail has threads of its own: a mail server that does not answer delays no webhook.
        self._pools = {WEBHOOK: ThreadPoolExecutor(policy.at_once), MAIL: ThreadPoolExecutor(MAILS_AT_ONCE)}
        self._busy: dict[tuple[str, str], Future[None]] = {}
        self._thread = Thread(target=self._run, name="notices")

    def __enter__(self) -> "NoticeSender":
        # What happens from now on is told, also if another process sends.
        self._notices.derive()
        self._notices.try_again()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End; what is being sent may be sent again by the next one."""
        self._end.set()
        self._wake.set()
        self._thread.join()
        for pool in self._pools.values():
            pool.shutdown(cancel_futures=True)

    def _run(self) -> None:
        lock: IO[bytes] | None = None
        while not self._end.is_set():
            self._wake.clear()
            try:
                lock = lock or try_lock_directory(self._locks)
                if lock is not None:
                    self._look()
            except (JudgeError, SQLAlchemyError, OSError) as error:
                log.error("notices cannot be sent now", error=str(error))  # noqa: TRY400 - a sentence
            # The end may have come before `clear`.
            if not self._end.is_set():
                self._wake.wait(LOOK_S)
        if lock is not None:
            lock.close()

    def _look(self) -> None:
        self._renew()
        self._notices.derive()
        self._busy = {key: future for key, future in self._busy.items() if not future.done()}
        for notice in self._notices.due(self._busy.keys(), self._policy.digest_s):
            if notice.channel == MAIL and not self._policy.smtp:
                self._say("notices by e-mail wait for a mail server: name one in [intake.notices], smtp = HOST:PORT")
                continue
            future = self._pools[notice.channel].submit(self._send, notice)
            future.add_done_callback(lambda _: self._wake.set())
            self._busy[(notice.author, notice.channel)] = future

    def _renew(self) -> None:
        """Apply the policy of a file that was changed; what waits is tried again at once."""
        policy = self._file.look()
        try:
            password = read_password(policy, self._folder)
        except InputError as error:
            self._say(f"{error}: notices are sent as before")
            return
        if (policy, password) == (self._policy, self._password):
            return
        for channel, threads in ((WEBHOOK, policy.at_once), (MAIL, MAILS_AT_ONCE)):
            before, self._pools[channel] = self._pools[channel], ThreadPoolExecutor(threads)
            before.shutdown(wait=False)
        self._policy, self._password, self._said = policy, password, ""
        self._notices.try_again()
        log.info("[intake.notices] was changed, and applies now")

    def _say(self, text: str) -> None:
        """Log a sentence that would be repeated at each look, once."""
        if text != self._said:
            log.warning(text)
        self._said = text

    def _send(self, notice: Notice) -> None:
        together = self._notices.digest(notice)
        try:
            self._carry(notice, together)
            for each in together:
                self._notices.sent(each.id)
        except NotDeliveredError as error:
            state = self._failed(together, str(error))
            log.warning(
                "a notice was given up" if state == GIVEN_UP else "a notice was not taken",
                notice=notice.id,
                author=notice.author,
                channel=notice.channel,
                why=str(error),
            )
        except Exception as error:  # noqa: BLE001 nothing a receiver does ends the others' notices
            log.error("a notice could not be sent", notice=notice.id, error=repr(error))  # noqa: TRY400
            self._failed(together, "the judge failed")

    def _failed(self, together: Sequence[Notice], why: str) -> str:
        limits = (self._policy.tries, self._policy.again_s)
        states = [self._notices.fail(each.id, None, why, *limits).state for each in together]
        return states[0]

    def _carry(self, notice: Notice, together: Sequence[Notice]) -> None:
        targets = self._notices.targets(notice.author)
        if notice.channel == WEBHOOK:
            if not targets.webhook:
                raise NotDeliveredError("its target was removed")
            call_webhook(targets.webhook, targets.secret, notice.id, notice.body.encode(), self._policy)
            return
        if not self._policy.smtp or not targets.email:
            raise NotDeliveredError("there is no mail server, or no address")
        what = printable(notice.text, SUBJECT_CHARACTERS) if len(together) == 1 else f"{len(together)} results"
        lines = [f"{moment_words(each.at)}  {printable(each.text, TEXT_CHARACTERS)}" for each in together]
        lines += ["", *([f"The contest: {self._policy.site}"] if self._policy.site else []), _STOP]
        text = "\n".join(lines) + "\n"
        # A mail that has grown since it was tried is another one.
        send_mail(self._policy, self._password, targets.email, f"[{self._contest}] {what}", text, together[-1].id)


def moment_words(at: str) -> str:
    """A moment of a notice for people: `2026-11-25 12:51:03 UTC`."""
    return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
