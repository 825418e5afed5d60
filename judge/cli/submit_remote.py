"""`judge submit --url`: submit over HTTP to a remote `judge serve`."""

import hashlib
import re
import time
from collections.abc import Callable, Mapping
from email.message import Message
from http.client import HTTPException
from ipaddress import ip_address
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from judge.base.durable_files import open_regular, read_bounded, write_durably
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.moments import moment_text
from judge.base.parsing import parse_json, to_document
from judge.base.text import printable, suggest
from judge.base.text_files import decode_file
from judge.cli.options import checked_address
from judge.cli.submission_output import REPEATED, print_findings, print_received, print_state, print_step
from judge.journal.events import SubmissionState
from judge.store.practice_games import PracticeGame
from judge.store.types import ENTERS, Submission, UploadStep
from judge.submissions.check import CheckReport
from judge.terminal.output import note, print_json
from judge.web.schemas import ContestInfo, Detail, Page, PracticePage, Problem, Received, UploadQuery

Result = TypeVar("Result")

POLL_INTERVAL_S = 1.0
MAX_TRIES = 60
RETRY_INTERVAL_S = 5.0
MAX_PAUSE_S = 300.0
TIMEOUT_S = 60.0
MAX_BYTES = 32 << 20
MAX_TOKEN_FILE_BYTES = 8192

_AUTHOR_PAGE = re.compile(r"/author(?:/(?:[a-z_]+\.html)?)?$")

NOT_ACCEPTED = range(400, 500)
TOO_MANY_REQUESTS = 429


class NoAnswerError(HostError):
    """The service did not answer, or asks to retry after `wait_s`."""

    def __init__(self, text: str, wait_s: float) -> None:
        super().__init__(text)
        self.wait_s = wait_s


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: they would also receive the token."""

    def redirect_request(self, *_arguments: Any) -> None: ...


class RemoteIntake:
    """Client of a service's intake, for the author of a token."""

    def __init__(self, url: str, token_file: Path | None) -> None:
        """`url` may be the link of the author's page, which contains the token.

        Raises InputError for an invalid address, and without a token.
        """
        address, mark, linked = url.partition("#")
        self.url = _checked_url(_AUTHOR_PAGE.sub("", address))
        if token_file is not None:
            token = _read_token(token_file)
        elif mark:
            token = _checked_token(linked, "--url: the text after #")
        else:
            raise InputError(
                "--token-file is missing: give the file with the token that the organiser gave you, or the whole link "
                "of the author's page as --url"
            )
        self._headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
        self._opener = build_opener(_NoRedirects())

    def submit(self, path: Path, name: str, title: str) -> Received:
        """Upload a file. Raises InputError for an invalid file or name."""
        if path.is_dir():
            raise InputError(f"{path}: a directory; pack it: tar czf {path.name}.tar.gz -C {path} .")
        sent = UploadQuery(filename=path.name, name=name, title=title)
        query = urlencode(sent.model_dump(exclude_defaults=True), quote_via=quote)
        with os_errors_as(InputError, path), open_regular(path) as file:
            size = path.stat().st_size
            most = self.contest().uploads.bytes
            if size > most:
                # A service that refuses an upload midway closes the connection without a reason.
                raise InputError(f"{path}: {size} bytes; an upload has at most {most}")
            length = {"content-length": str(size), "content-type": "application/octet-stream"}
            answer = self.ask(f"/submissions?{query}", file, length)
        return self.parse_answer(Received, "/submissions", answer)

    def submission_of(self, agent: str) -> Submission:
        """The newest that passed. Raises InputError."""
        before: int | None = None
        found: list[str] = []
        while True:
            path = "/submissions" if before is None else f"/submissions?before={before}"
            page = self.parse_answer(Page, path, self.ask(path))
            for each in page.submissions:
                if each.state in ENTERS and each.name.casefold() == agent.casefold():
                    return each
                found += [each.name] if each.state in ENTERS else []
            before = page.before
            if before is None:
                hint = printable(suggest(agent, found), 300)
                raise InputError(f"no submission of {agent[:64]!r} passed: {hint}")

    def challenge(self, submission: int, opponent: str) -> PracticeGame:
        """Request a game."""
        path = f"/submissions/{submission}/challenges"
        query = urlencode({"opponent": opponent}, quote_via=quote)
        return self._newest(path, self.ask(f"{path}?{query}", b""))

    def challenge_state(self, submission: int, game: int) -> PracticeGame:
        path = f"/submissions/{submission}/challenges"
        return self._newest(path, self.ask(path), game)

    def _newest(self, path: str, answer: bytes, game: int | None = None) -> PracticeGame:
        page = self.parse_answer(PracticePage, path, answer)
        chosen = [each for each in page.games if game in (None, each.id)]
        if not chosen:
            raise HostError(f"{self.url}{path}: the challenge is missing")
        return chosen[0]

    def await_end(self, request: Callable[[], Result], is_over: Callable[[Result], bool], later: str) -> Result:
        """Repeat a request until its result is over; return this result.

        Raises HostError after `MAX_TRIES` failures in a row. Its message ends with `later`: what the user can do.
        """
        failures = 0
        while True:
            try:
                found, failures = request(), 0
            except NoAnswerError as error:
                failures += 1
                if failures > MAX_TRIES:
                    raise HostError(f"{error}; {later}") from None
                time.sleep(error.wait_s)
                continue
            if is_over(found):
                return found
            time.sleep(POLL_INTERVAL_S)

    def contest(self) -> ContestInfo:
        return self.parse_answer(ContestInfo, "/contest", self.ask("/contest"))

    def parse_answer(self, kind: type[Result], path: str, answer: bytes) -> Result:
        """Raises InputError unless `answer`, of a path, is of this kind."""
        return parse_json(kind, answer, f"{self.url}{path}: not an answer of judge serve")

    def ask(self, path: str, body: IO[bytes] | bytes | None = None, more: Mapping[str, str] | None = None) -> bytes:
        """The response of a path; a `body` is sent with `more` headers. Raises InputError, HostError."""
        request = Request(f"{self.url}{path}", body, {**self._headers, **(more or {})})  # noqa: S310 checked in __init__
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as answer:
                data: bytes = answer.read(MAX_BYTES + 1)
        except HTTPError as error:
            with error:
                raise self._refusal(error.code, error.headers, error.read(MAX_BYTES)) from None
        except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
            why = printable(str(getattr(error, "reason", error)) or type(error).__name__, 200)
            raise NoAnswerError(f"{self.url}: {why}", RETRY_INTERVAL_S) from None
        if len(data) > MAX_BYTES:
            raise HostError(f"{self.url}{path}: an answer of more than {MAX_BYTES} bytes")
        return data

    def _refusal(self, status: int, headers: Message, body: bytes) -> Exception:
        try:
            said = printable(Problem.model_validate_json(body).error, 600)
        except ValueError:
            said = f"HTTP status {status}; is this the address of judge serve?"
        wait = headers.get("retry-after", "")
        if status in NOT_ACCEPTED and status != TOO_MANY_REQUESTS:
            return InputError(f"{self.url}: {said}")
        wait_s = float(wait) if wait.isascii() and wait.isdigit() else RETRY_INTERVAL_S
        return NoAnswerError(f"{self.url}: {said}", min(wait_s, MAX_PAUSE_S))


def submit_remote(
    file: Path,
    url: str,
    token_file: Path | None,
    name: str,
    title: str,
    *,
    is_waiting: bool,
    as_json: bool,
    receipt: Path | None,
) -> None:
    """Submit a file; if `is_waiting`, print its progress, and exit with 1 unless it is an entry.

    `receipt` is a new file for the receipt. Raises InputError if the service refuses the file, HostError if the service
    does not answer.
    """
    if receipt is not None and receipt.exists():
        raise InputError(f"{receipt} exists: give the receipt another name")
    service = RemoteIntake(url, token_file)
    sent = service.submit(file, name, title)
    if receipt is not None:
        _keep_receipt(sent, file, receipt)
    page = f"{service.url}/author/submissions/{sent.id}.html"
    if not as_json:
        print_received(sent)
    if sent.is_repeated:
        note(REPEATED)
    if not is_waiting:
        if as_json:
            print_json(to_document(sent))
        else:
            note(f"its page: {page}")
        return
    answer, ended = _followed(service, sent.id, as_json=as_json)
    report: CheckReport | None
    try:
        report = parse_json(CheckReport, service.ask(f"/submissions/{sent.id}/report"), f"{service.url}: not a report")
    except InputError:
        report = None
    if as_json:
        print_json({**answer, "report": None if report is None else report.model_dump(mode="json")})
    else:
        print_findings(report)
        print_state(ended)
        if ended.state in ENTERS:
            note(next_words(service.contest(), page))
        elif ended.state is SubmissionState.REFUSED:
            note(f"next: fix it and submit it again; report and log: {page}")
        elif ended.state is SubmissionState.FAILED:
            note("next: ask the organiser to retry it")
    if ended.state not in ENTERS:
        raise SystemExit(1)


def next_words(contest: ContestInfo, page: str) -> str:
    """What a passed submission leads to."""
    if contest.has_begun and contest.joins_later:
        return f"it joins the contest, which has begun; its page: {page}"
    if contest.has_begun:
        return "the contest has begun: its entries are locked in, so this agent does not take part"
    if contest.joins_later and contest.closes is None:
        return f"it takes part; a new version that passes its check replaces it; its page: {page}"
    until = "the contest begins" if contest.closes is None else moment_text(contest.closes)
    return f"it takes part; you may replace it until {until}; its page: {page}"


def _keep_receipt(sent: Received, file: Path, path: Path) -> None:
    if sent.receipt is None:
        note("judge: no receipt yet: the organiser has not signed the log; later GET /submissions/ID returns it")
        return
    try:
        with open_regular(file) as sent_file:
            digest = hashlib.sha256(sent_file.read()).hexdigest()
        if sent.receipt.digest != digest:
            note(f"judge: the receipt does not match {file}; ask the organiser why")
        write_durably(path, sent.receipt.model_dump_json(indent=2).encode())
    except OSError as error:
        raise HostError(f"{error.filename or path}: {error.strerror}; the file was received") from None


def _followed(service: RemoteIntake, number: int, *, as_json: bool) -> tuple[dict[str, Any], Detail]:
    shown: list[UploadStep] = []
    waits_for = ""

    def ask_once() -> tuple[bytes, Detail]:
        nonlocal shown, waits_for
        path = f"/submissions/{number}"
        data = service.ask(path)
        now = service.parse_answer(Detail, path, data)
        if now.steps[: len(shown)] != shown:
            shown = []
        if not as_json:
            for step in now.steps[len(shown) :]:
                print_step(step)
            if not now.is_over and now.why not in ("", waits_for):
                note(f"judge: it waits: {printable(now.why, 400)}")
                waits_for = now.why
        shown = now.steps
        return data, now

    later = f"submission {number} was received: check its state later"
    data, ended = service.await_end(ask_once, lambda found: found[1].is_over, later)
    return parse_json(dict[str, Any], data, service.url), ended


def _checked_url(url: str) -> str:
    address = checked_address(url)
    host = urlsplit(address).hostname or ""
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if address.startswith("http:") and not is_here:
        note("judge: --url without https: the token can be read in transit")
    return address


def _read_token(path: Path) -> str:
    text = decode_file(read_bounded(path, MAX_TOKEN_FILE_BYTES, links=True), str(path))
    return _checked_token(text.strip().strip("\"'").rpartition("#")[2], str(path))


def _checked_token(text: str, place: str) -> str:
    if not re.fullmatch(r"[!-~]{1,500}", text):
        raise InputError(f"{place}: must contain only the organiser's token")
    return text
