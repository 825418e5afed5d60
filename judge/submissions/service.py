"""Submissions of a contest: whether they are open; storing, registering and processing uploads.

FOLDER/submissions/         uploads, logs and reports by digest
FOLDER/submissions/workers  a locked file per worker process; the kernel unlocks those of dead processes
FOLDER/agents/DIGEST        the resulting agents
"""

from __future__ import annotations

import json
import re
import secrets
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from judge.agents.agents import Agent
from judge.agents.manifest import NAME, AgentManifest
from judge.base.durable_files import open_regular
from judge.base.errors import HostError, InputError, JudgeError, NotReadyError, os_errors_as
from judge.base.locks import lock, try_lock
from judge.base.moments import moment_text
from judge.base.parsing import parse_json
from judge.base.text import is_printable, printable, sentence
from judge.journal.events import Moment, SubmissionsClosed, SubmissionsOpened
from judge.record.policy import Policy
from judge.store.files import Files, Incoming
from judge.store.lookalikes import appearances
from judge.store.notices import Notices
from judge.store.practice_games import PracticeGames
from judge.store.queue import Queue
from judge.store.submissions import Register
from judge.store.tokens import Tokens
from judge.store.types import ORGANISER, NotNowError, ProcessingResult, Submission, Upload, UploadLimits, UploadStep
from judge.submissions.intake import IntakePolicy
from judge.submissions.windows import Windows

if TYPE_CHECKING:
    from judge.submissions.pipeline import OnStep, Processor, UploadOutcome

MAX_FILENAME_CHARACTERS = 255
MAX_TITLE_CHARACTERS = 48
MAX_COMBINING_CHARACTERS = 4
"""Combining characters in a row."""
CHUNK_BYTES = 1 << 20
FILENAME = r"^[^/\\\x00-\x1f\x7f-\x9f]*[^./\\\x00-\x1f\x7f-\x9f][^/\\\x00-\x1f\x7f-\x9f]*$"
"""Characters must also be printable."""
AGENT_NAME = NAME.pattern

WindowEvent = SubmissionsOpened | SubmissionsClosed


@dataclass(frozen=True, slots=True)
class IntakeDirectory:
    """A contest's submissions, as plain values."""

    contest: str
    policy: Policy
    folder: Path
    store_url: str
    intake: IntakePolicy = field(default_factory=IntakePolicy)
    windows: Windows = field(default_factory=Windows)
    plan: Path | None = None
    """The contest's file; a running service applies some changes."""
    agents_per_author: int = 0
    """0: no limit."""
    joins_later: bool = False
    """Whether agents that pass after the start join."""
    listed_names: Callable[[], Collection[str]] = tuple
    """Names of agents in the contest's file."""
    clocks: Mapping[str, str] = field(default_factory=dict)
    """Time controls of single agents."""

    @property
    def uploads(self) -> Path:
        return self.folder / "submissions"

    @property
    def practice(self) -> Path:
        """Separate, because practice records expire."""
        return self.folder / "practice"

    @property
    def practice_records(self) -> Files:
        return Files(self.practice)

    @property
    def agents(self) -> Path:
        return self.folder / "agents"

    @property
    def files(self) -> Files:
        """Uploads, logs and reports by digest."""
        return Files(self.uploads)

    @property
    def runtimes(self) -> list[str]:
        """Runtimes that a manifest may name."""
        return sorted({*self.policy.admits, *self.policy.runtimes})

    def register(self) -> Register:
        """The caller closes it. Raises as `Register`."""
        return Register(self.store_url, self.contest, listed_names=self.listed_names, joins_later=self.joins_later)

    def notices(self) -> Notices:
        """The caller closes it. Raises as `Notices`."""
        return Notices(self.store_url, self.contest)

    def tokens(self) -> Tokens:
        """The caller closes it. Raises as `Tokens`."""
        return Tokens(self.store_url, self.contest)

    def practice_games(self) -> PracticeGames:
        """The caller closes it. Raises as `PracticeGames`."""
        return PracticeGames(self.store_url, self.contest)


# --- opening and closing ---------------------------------------------------------------------------------------------


class SubmissionGate:
    """Whether submissions are open. Thread-safe.

    Setting the host's clock back does not undo an event; only a changed time does.
    """

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self._past: set[WindowEvent] = set()
        self._lock = Lock()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def remember(self, events: Iterable[WindowEvent]) -> None:
        """Restore the last events of the journal."""
        with self._lock:
            self._past |= set(events)

    def happened(self) -> Sequence[WindowEvent]:
        """The opening and the end of submissions, if they happened, also before the clock was set back."""
        windows = self.windows
        events: list[tuple[datetime, WindowEvent]] = []
        if windows.opens is not None:
            events.append((windows.opens, SubmissionsOpened(Moment.of(windows.opens))))
        if windows.closes is not None:
            events.append((windows.closes, SubmissionsClosed(Moment.of(windows.closes))))
        with self._lock:
            self._past |= {event for moment, event in events if self.now() >= moment}
            return [event for _, event in events if event in self._past]

    @property
    def is_closed(self) -> bool:
        """Whether the end of submissions has passed."""
        return any(isinstance(event, SubmissionsClosed) for event in self.happened())

    def check(self) -> None:
        """Raise NotNowError with time and zone if submissions are closed."""
        happened = {type(event) for event in self.happened()}
        windows = self.windows
        if windows.closes is not None and SubmissionsClosed in happened:
            raise NotNowError(f"submissions closed at {moment_text(windows.closes)}: ask the organiser")
        if windows.opens is not None and SubmissionsOpened not in happened:
            raise NotNowError(f"submissions open at {moment_text(windows.opens)}: send it again then")


# --- receiving -------------------------------------------------------------------------------------------------------


def check_filename(filename: str) -> str:
    """Raises InputError for a path or an invalid name."""
    fits = len(filename) <= MAX_FILENAME_CHARACTERS and is_printable(filename)
    if not fits or not re.fullmatch(FILENAME, filename):
        raise InputError(
            f"file name {filename[:80]!r}: 1 to {MAX_FILENAME_CHARACTERS} printable characters, and no path"
        )
    return filename


def check_name(name: str) -> str:
    """Empty: the manifest's. Raises InputError."""
    if name and not NAME.fullmatch(name):
        raise InputError(
            f"name {name[:80]!r}: only A-Z, a-z, 0-9, dash, underscore and dot, 1 to 64 of them, no dot first"
        )
    return name


def check_title(title: str) -> str:
    """A display name with single blanks, in NFC. Raises InputError."""
    title = unicodedata.normalize("NFC", re.sub(" +", " ", title.strip()))
    if len(title) > MAX_TITLE_CHARACTERS or not is_printable(title):
        raise InputError(f"display name {title[:80]!r}: at most {MAX_TITLE_CHARACTERS} printable characters")
    if title and not appearances(title):
        raise InputError(f"display name {title!a}: it shows nothing; use letters")
    if any(
        len(list(run)) > MAX_COMBINING_CHARACTERS for is_mark, run in groupby(title, _is_mark) if is_mark
    ) or _is_mark(title[:1]):
        raise InputError(f"display name {title!a}: 0 to {MAX_COMBINING_CHARACTERS} marks follow a letter")
    return title


def _is_mark(letter: str) -> bool:
    return bool(letter) and unicodedata.category(letter) in ("Mn", "Mc", "Me")


class ReceivedUpload(NamedTuple):
    """`is_repeated`: nothing was stored."""

    submission: Submission
    is_repeated: bool


def receive_upload(
    directory: IntakeDirectory,
    register: Register,
    upload: Upload,
    incoming: Incoming,
    limits: UploadLimits | None = None,
    worker: str = "",
) -> ReceivedUpload:
    """Register and keep an upload once, or again after a change of clocks."""
    with register.change() as inner:
        earlier = inner.repeated(upload)
        if earlier is not None and not has_other_clock(directory, earlier):
            return ReceivedUpload(earlier, is_repeated=True)
        received = inner.receive(upload, limits, worker)
        incoming.keep()
        return ReceivedUpload(received, is_repeated=False)


def receive_file(
    directory: IntakeDirectory, register: Register, path: Path, name: str, author: str, worker: str, title: str = ""
) -> ReceivedUpload:
    """Store a local file for this worker, limited only in size. Raises InputError."""
    check_filename(path.name)
    check_name(name)
    title = check_title(title)
    if path.is_dir():
        raise InputError(f"{path}: a directory; pack it: tar czf {path.name}.tar.gz -C {path} .")
    with os_errors_as(InputError, path), open_regular(path) as file, Incoming(directory.uploads) as incoming:
        while chunk := file.read(CHUNK_BYTES):
            incoming.write(chunk)
            if incoming.size > directory.intake.upload_bytes:
                raise InputError(
                    f"{path}: more than {directory.intake.upload_bytes} bytes; to allow more, set in the contest's "
                    "file: [intake] upload_bytes"
                )
        if not incoming.size:
            raise InputError(f"{path}: the file is empty")
        incoming.sync()
        upload = Upload(author, name, path.name, incoming.digest, incoming.size, title)
        return receive_upload(directory, register, upload, incoming, worker=worker)


# --- processing ------------------------------------------------------------------------------------------------------


def process_claimed(
    directory: IntakeDirectory,
    register: Register,
    taken: Submission,
    process: Processor,
    tell: OnStep = lambda _: None,
    practice: int = 0,
) -> Submission:
    """Process a claimed submission and register the result, also if judge or host fails.

    `tell` gets each stored step. `practice`: number of practice games after a pass.
    """
    from judge.submissions.pipeline import UploadJob

    def keep(step: UploadStep) -> None:
        register.step(taken.id, replace(step, stage=str(step.stage), attempt=taken.attempt))
        tell(step)

    def failed(why: str) -> Submission:
        return register.fail(taken.id, taken.attempt, why, directory.intake.tries, directory.intake.again_s)

    # An organiser uploads for others; the manifest names the author.
    author = "" if taken.author == ORGANISER else taken.author
    try:
        directory.agents.mkdir(parents=True, exist_ok=True)
        upload = directory.files.path(taken.upload)
        job = UploadJob(
            upload,
            taken.filename,
            directory.policy,
            directory.agents,
            taken.name,
            author,
            why_not_named=partial(register.why_not_named, taken.author),
        )
        outcome = process(job, keep)
        kept, most = _kept(directory.files, outcome), 0 if taken.author == ORGANISER else directory.agents_per_author
        return register.finish(taken.id, taken.attempt, kept, practice, most)
    except InputError as error:
        return register.finish(taken.id, taken.attempt, ProcessingResult(str(error), "", None, None, None, None))
    except NotReadyError as error:
        return register.release(taken.id, taken.attempt, str(error), directory.intake.again_s)
    except HostError as error:
        return failed(str(error))
    except OSError as error:
        return failed(f"{error.filename or directory.folder}: {error.strerror}")
    except (SystemExit, KeyboardInterrupt):
        register.release(taken.id, taken.attempt, "the judge that processed it was ended")
        raise
    except BaseException as error:
        failed(f"the judge failed: {type(error).__name__}")
        raise


def _kept(files: Files, outcome: UploadOutcome) -> ProcessingResult:
    agent, report = outcome.agent, outcome.report
    return ProcessingResult(
        refusal=outcome.refusal,
        name="" if agent is None else agent.manifest.name,
        digest=None if agent is None else agent.digest,
        agent=None if agent is None else _described(agent, outcome),
        log=files.put(outcome.log.encode("utf-8", "backslashreplace")),
        report=None if report is None else files.put(report.model_dump_json().encode()),
        title=_fit_title(outcome.title),
    )


def _fit_title(text: str) -> str:
    try:
        return check_title(text[:MAX_TITLE_CHARACTERS])
    except InputError:
        return ""


def _described(agent: Agent, outcome: UploadOutcome) -> str:
    return json.dumps(
        {
            "manifest": agent.manifest.model_dump(mode="json"),
            "executables": agent.executables,
            "own_name": agent.own_name,
            "program": agent.program.name,
            "runtime_image": outcome.runtime_image,
            "origin": asdict(outcome.origin),
        }
    )


def agent_of(directory: IntakeDirectory, submission: Submission) -> Agent:
    """Raises InputError for a submission without an agent."""
    if submission.agent is None or submission.digest is None:
        raise InputError(f"submission {submission.id} produced no agent: {submission.why}")
    described = json.loads(submission.agent)
    return Agent(
        AgentManifest.model_validate(described["manifest"]),
        directory.agents / described["program"],
        submission.digest,
        tuple(described["executables"]),
        described.get("own_name", ""),
    )


def has_other_clock(directory: IntakeDirectory, submission: Submission) -> bool:
    """Whether its check had other time limits than the contest has now."""
    from judge.submissions.check.report import CheckReport

    if submission.report is None:
        return False
    try:
        report = parse_json(CheckReport, directory.files.get(submission.report), "report")
    except JudgeError:
        return False
    return report.clock not in ("", directory.policy.clock.words)


# --- workers ---------------------------------------------------------------------------------------------------------


@contextmanager
def working(directory: IntakeDirectory) -> Iterator[str]:
    """Register this process as a worker, locked while alive; yield its name. Raises HostError."""
    name = secrets.token_hex(16)
    path = _mark(directory, name)
    with os_errors_as(HostError, path, ": nothing can be processed"):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("x")
    with file:
        lock(file)
        try:
            yield name
        finally:
            path.unlink(missing_ok=True)


def is_worker_gone(directory: IntakeDirectory, worker: str) -> bool:
    """Ended, or ran before the last reboot."""
    try:
        with _mark(directory, worker).open() as file:
            if not try_lock(file):
                return False
    except FileNotFoundError:
        return True
    _mark(directory, worker).unlink(missing_ok=True)
    return True


def requeue_lost(
    directory: IntakeDirectory, queue: Queue[Any], worker: str = "", running: Collection[tuple[int, int]] = ()
) -> Sequence[int]:
    """Requeue rows of dead workers and, after a database failure, those of `worker` not in `running` (number, attempt).
    Return their numbers.
    """
    lost = [
        (number, attempt)
        for number, attempt, taken_by in queue.running_attempts()
        if ((number, attempt) not in running if taken_by == worker else is_worker_gone(directory, taken_by))
    ]
    return [number for number, attempt in lost if queue.give_back(number, attempt, directory.intake.again_s)]


def _mark(directory: IntakeDirectory, worker: str) -> Path:
    if not re.fullmatch(r"[0-9a-f]{32}", worker):
        raise ValueError(f"not a worker's name: {worker[:80]!r}")
    return directory.uploads / "workers" / worker


def state_line(submission: Submission) -> str:
    """Such as `submission 3, five version 2: approved`."""
    number, name, state = submission.id, printable(submission.name) or "no name yet", submission.state.value
    if submission.version:
        return sentence(f"submission {number}, {name} version {submission.version}: {state}")
    return sentence(f"submission {number}, {name}: {state}")
