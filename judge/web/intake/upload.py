"""Writes uploads, with limits on size and slowness."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from judge.base.errors import InputError
from judge.store.files import Incoming
from judge.store.submissions import Register
from judge.store.types import TooMuchError, Upload
from judge.submissions.intake import IntakePolicy
from judge.submissions.service import IntakeDirectory, ReceivedUpload, SubmissionGate, receive_upload
from judge.web.kit.answers import FormUploadError, TooLargeError, TooSlowError
from judge.web.schemas import UploadQuery

SEND_BYTES = "send the bytes of the file: curl --data-binary @FILE"

_FORM_PART = re.compile(rb"--[^\r\n]{1,200}\r?\n(?i:content-disposition): *(?:form-data|attachment)")
"""The start of a multipart form; curl writes "attachment" for user-set types."""

_HEAD_BYTES = 512

_RAW = re.compile(rb"[\x00\r\n]")
"""No encoded form contains them; `curl -d` removes them."""


class Receiver:
    """Receives a service's uploads."""

    def __init__(self, directory: IntakeDirectory, register: Register) -> None:
        self._directory = directory
        self._register = register
        self.gate = SubmissionGate(directory.windows)
        self._running: Counter[str] = Counter()
        """Uploads by author."""

    def check_open(self, author: str) -> None:
        """Raise NotNowError with time and zone if an author cannot submit now."""
        if not (self.gate.is_closed and self._register.is_admitted_late(author)):
            self.gate.check()

    async def receive(self, request: Request, author: str, query: UploadQuery) -> ReceivedUpload:
        """Raises InputError, such as `TooMuchError`, and HostError."""
        await run_in_threadpool(self.check_open, author)
        limits = self._directory.intake
        check_type(request)
        with self._running_upload(author):
            length = int(request.headers.get("content-length", "0"))
            if length > limits.upload_bytes:
                raise _too_large(limits)
            may = (author, query.name, length, limits, query.title)
            await run_in_threadpool(self._register.may_receive, *may)
            with await run_in_threadpool(Incoming, self._directory.uploads) as incoming:
                await receive_body(request, incoming, limits)
                await run_in_threadpool(incoming.sync)
                await run_in_threadpool(self.check_open, author)
                upload = Upload(author, query.name, query.filename, incoming.digest, incoming.size, query.title)
                return await run_in_threadpool(
                    receive_upload, self._directory, self._register, upload, incoming, limits
                )

    @contextmanager
    def _running_upload(self, author: str) -> Iterator[None]:
        allowed = self._directory.intake.uploads_at_once
        if self._running[author] >= allowed:
            raise TooMuchError(f"{allowed} of your uploads are still running: wait for them", 10)
        self._running[author] += 1
        try:
            yield
        finally:
            self._running[author] -= 1


def check_type(request: Request) -> None:
    """Raises FormUploadError for an encoded file."""
    kind = _media_type(request)
    if kind.startswith("multipart/") or kind == "application/json":
        raise FormUploadError(f"the request is {kind}: {SEND_BYTES}")
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise FormUploadError(f"the request has Content-Encoding {encoding[:40]}: {SEND_BYTES}")


async def receive_body(request: Request, incoming: Incoming, limits: IntakePolicy) -> None:
    """Raises TooLargeError, TooSlowError, FormUploadError, HostError; InputError if the body is empty."""
    # `curl --data-binary` also sends this type.
    is_form = _media_type(request) == "application/x-www-form-urlencoded"
    head = b""
    async for chunk in _pieces(request, limits):
        if incoming.size + len(chunk) > limits.upload_bytes:
            raise _too_large(limits)
        head = (head + chunk)[:_HEAD_BYTES]
        if _FORM_PART.match(head):
            raise FormUploadError(f"the body is a multipart form: {SEND_BYTES}")
        is_form = is_form and not _RAW.search(chunk)
        await run_in_threadpool(incoming.write, chunk)
    if not incoming.size:
        raise InputError("the upload is empty: send the file as the request's body")
    if is_form:
        raise FormUploadError(f"the body is an encoded form, or curl -d has removed its line ends: {SEND_BYTES}")


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _pieces(request: Request, limits: IntakePolicy) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    stream = request.stream().__aiter__()
    total = 0
    while True:
        try:
            async with asyncio.timeout(limits.idle_s):
                chunk = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise TooSlowError(f"no data for {limits.idle_s:g} s: send the upload again") from None
        total += len(chunk)
        if loop.time() - began > limits.idle_s + total / limits.least_bytes_per_s:
            raise TooSlowError(f"slower than {limits.least_bytes_per_s} bytes a second: use a faster connection")
        yield chunk


def _too_large(limits: IntakePolicy) -> TooLargeError:
    return TooLargeError(f"an upload has at most {limits.upload_bytes} bytes: send a smaller one")
