"""A witness service (C2SP tlog-witness): signs logs' checkpoints, and never two histories of one log."""

import re
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

import uvicorn
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from judge.base.durable_files import read_bounded, write_durably
from judge.base.errors import HostError, InputError
from judge.contest.plan import NAME
from judge.submissions.intake import IntakePolicy
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, Checkpoint, origin_of, read_checkpoint
from judge.transparency.witness import (
    ADD_CHECKPOINT,
    MAX_REQUEST_BYTES,
    SIZE_TYPE,
    AddCheckpoint,
    Refused,
    answer,
    read_request,
    sole_writer,
)
from judge.web.kit.connections import uvicorn_options
from judge.web.kit.middleware import Asgi, Middleware, Part


class Witness:
    """Signs for the contests of one organiser."""

    def __init__(
        self, folder: Path, contests: Sequence[str], organiser: Ed25519PublicKey, name: str, key: Ed25519PrivateKey
    ) -> None:
        """`folder` stores each contest's last signed checkpoint as `NAME.checkpoint`. Raises InputError for an invalid
        name.
        """
        for contest in contests:
            if not re.fullmatch(NAME, contest):
                raise InputError(f"{contest[:80]!r}: not a valid name of a contest")
        self._files = {origin_of(contest): folder / f"{contest}.checkpoint" for contest in contests}
        self._organiser = organiser
        self._name = name
        self._key = key
        self._lock = Lock()

    def sign(self, body: bytes) -> Checkpoint | Refused:
        """Raises OSError, without a signature, if the checkpoint cannot be stored."""
        try:
            request = read_request(body)
        except InputError as error:
            return Refused(400, str(error))
        file = self._files.get(request.new.origin)
        if file is None:
            return Refused(404, "this witness does not sign the log of this name")
        try:
            with self._lock, sole_writer(file):
                return self._answer(request, file)
        except HostError as error:
            return Refused(503, str(error))

    def _answer(self, request: AddCheckpoint, file: Path) -> Checkpoint | Refused:
        last = read_checkpoint(read_bounded(file, MAX_CHECKPOINT_BYTES), str(file)) if file.exists() else None

        def sign(new: Checkpoint) -> Checkpoint:
            signed = Checkpoint(new.origin, new.size, new.root, new.by(new.origin))
            signed = signed.cosigned(self._name, self._key, int(time.time()))
            write_durably(file, signed.note)
            return signed

        return answer(request, last, self._organiser, sign)

    def response(self, body: bytes) -> Response:
        """The HTTP response."""
        signed = self.sign(body)
        if isinstance(signed, Refused):
            kind = SIZE_TYPE if signed.status == 409 else "text/plain"
            return Response(f"{signed.text}\n", signed.status, media_type=kind)
        return Response("".join(map(str, signed.by(self._name))))


def create_app(witness: Witness, limits: IntakePolicy) -> Asgi:
    """Application."""

    async def add(request: Request) -> Response:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_REQUEST_BYTES:
                return Response("too long\n", 413, media_type="text/plain")
        return await run_in_threadpool(witness.response, body)

    return Middleware(
        Starlette(routes=[Route(f"/{ADD_CHECKPOINT}", add, methods=["POST"])]), Part.logged("witness", limits)
    )


def serve(witness: Witness, listener: socket.socket, ready: Callable[[], None], proxy: str = "") -> None:
    """Serve until a signal."""
    limits = IntakePolicy(upload_bytes=MAX_REQUEST_BYTES)
    server = uvicorn.Server(
        uvicorn.Config(create_app(witness, limits), **uvicorn_options(limits, limits.connections, proxy))
    )
    ready()
    server.run(sockets=[listener])
