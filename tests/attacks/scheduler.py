"""Attacks on `judge scheduler` by owners of a join file and by peers without a certificate."""

import asyncio
import math
import pickle
import socket
import ssl
import struct
import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]
from distributed.comm.core import CommClosedError, connect

from judge.base.errors import HostError
from judge.base.procfs import memory_bytes
from judge.cluster.bounded_messages import MAX_WAITING_PER_ADDRESS
from judge.cluster.security import invite, make_keys, parse_address, read_join_file
from tests.attacks.defences import weak_command
from tests.attacks.serving import Result
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S, until

MB = 1 << 20
WORKER = "evil"

ADDRESS = "tls://127.0.0.1:1"
REGISTER: Mapping[str, Any] = {
    "op": "register-worker", "status": "init", "server_id": "x", "nthreads": 1, "now": 0.0, "resources": {},
    "memory_limit": 0, "metrics": {}, "services": {}, "local_directory": "", "versions": {}, "nanny": "",
    "extra": {}, "stimulus_id": "x", "reply": False,
}  # fmt: skip


class Scheduler:
    """A `judge scheduler` on a free local port, with one worker's join file."""

    def __init__(self, folder: Path, scheme: str = "tls", without: Sequence[str] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.door: tuple[str, int] = free.getsockname()
        self.address = f"{scheme}://127.0.0.1:{self.door[1]}"
        words = ["scheduler", "--listen", self.address]
        if scheme == "tls":
            (keys,) = make_keys(folder / "keys", ["127.0.0.1"], 1)
            (self.file,) = invite(folder / "keys", [WORKER], parse_address(self.address), 1)
            words += ["--tls", str(keys)]
        self.log = folder / "scheduler.log"
        with self.log.open("wb") as log:
            self.process = ForkedProcess[bytes](weak_command(without, *words), stdout=log, stderr=log)
        try:
            until(lambda: self._listens() or self.process.poll() is not None, "judge scheduler listens")
            if not self._listens():
                raise HostError(f"judge scheduler ended: {self.log.read_text()}")
        except BaseException:
            self.close()
            raise

    def _listens(self) -> bool:
        return b"scheduler listens" in self.log.read_bytes()

    def peak_mb(self) -> int:
        return memory_bytes(self.process.pid, "VmPeak") >> 20

    def connection(self) -> ssl.SSLSocket:
        context: ssl.SSLContext = read_join_file(self.file).security().get_connection_args("worker")["ssl_context"]
        return context.wrap_socket(socket.create_connection(self.door, PATIENCE_S))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def message(*frames: bytes) -> bytes:
    body = struct.pack(f"{len(frames) + 1}Q", len(frames), *map(len, frames)) + b"".join(frames)
    return struct.pack("Q", len(body)) + body


def bomb() -> bytes:
    """600 MiB of zeros in 0.6 MB."""
    packed = zlib.compress(bytes(300 * MB), 9)
    inner = {"pickled-obj": pickle.dumps(None), "num-sub-frames": 2, "compression": ["zlib"] * 2}
    return message(msgpack.dumps({"op": "identity", "x": {"__Pickled__": 1}}), msgpack.dumps(inner), packed, packed)


def claim(*, in_all: bool) -> bytes:
    """A length of 600 MiB without data."""
    if in_all:
        return struct.pack("Q", 600 * MB)
    return struct.pack("4Q", 24, 2, 0, 600 * MB)


def cost_mb(scheduler: Scheduler, sent: bytes) -> int:
    """Growth by a message: until it is refused, or 500."""
    before = scheduler.peak_mb()
    with scheduler.connection() as connection:
        connection.settimeout(0.1)
        connection.sendall(sent)

        def is_over() -> bool:
            with suppress(TimeoutError):
                return not connection.recv(1 << 16)
            return scheduler.peak_mb() > before + 500

        until(is_over, "the scheduler refuses or reads the message")
    return scheduler.peak_mb() - before


def send_packed_message(directory: Path, is_off: bool) -> Result:
    """Send a message of 0.6 MB that decompresses to 600."""
    return _send(directory, [bomb()], is_off)


def claim_long_message(directory: Path, is_off: bool) -> Result:
    """Announce a part and a message of 600 MiB."""
    return _send(directory, [claim(in_all=False), claim(in_all=True)][: 1 if is_off else 2], is_off)


def _send(directory: Path, sent: Sequence[bytes], is_off: bool) -> Result:
    with closing(Scheduler(directory, without=["message bound"] * is_off)) as scheduler:
        grown = sum(cost_mb(scheduler, each) for each in sent)
        ended = ", and it ended" if scheduler.process.poll() is not None else ""
    return Result(grown >= 100 or bool(ended), f"the scheduler grows by {grown} MiB{ended}")


def keep_others_out(directory: Path, is_off: bool) -> Result:
    """Keep connections without a certificate open while a worker connects."""
    with closing(Scheduler(directory, without=["message bound"] * is_off)) as scheduler, ExitStack() as stack:
        count = 3 * MAX_WAITING_PER_ADDRESS
        peers = [stack.enter_context(socket.create_connection(scheduler.door, PATIENCE_S)) for _ in range(count)]
        scheduler.connection().close()
        left = sum(map(is_open, peers))
    return Result(left > MAX_WAITING_PER_ADDRESS, f"{left} of {count} connections stay open")


def is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return bool(connection.recv(1))
    except BlockingIOError:
        return True
    except OSError:
        return False


def connect_without_certificate(directory: Path, is_off: bool) -> Result:
    """Wait for the scheduler's greeting without a certificate, or with one of another authority."""
    with closing(Scheduler(directory, "tcp" if is_off else "tls")) as scheduler:
        if is_off:
            greeted = [is_greeted(scheduler.door)]
        else:
            (keys,) = make_keys(directory / "others", ["other"], 1)
            greeted = [is_greeted(scheduler.door, tls_context(each)) for each in (None, keys)]
    return Result(any(greeted), f"it answers {sum(greeted)} of {len(greeted)} peers")


def tls_context(keys: Path | None) -> ssl.SSLContext:
    """Accepts any server, with the certificate of a folder or none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if keys is not None:
        context.load_cert_chain(keys / "cert.pem", keys / "key.pem")
    return context


def is_greeted(door: tuple[str, int], context: ssl.SSLContext | None = None) -> bool:
    """The server sends a first byte; over TLS with a context."""
    with socket.create_connection(door, PATIENCE_S) as plain:
        if context is None:
            return bool(plain.recv(1))
        try:
            with context.wrap_socket(plain) as connection:
                return bool(connection.recv(1))  # TLS 1.3 reports a refusal here
        except (ssl.SSLError, ConnectionResetError):
            return False


def register_absurd_slots(directory: Path, is_off: bool) -> Result:
    """Register with infinitely many slots and other invalid values."""
    taken = []
    with closing(Scheduler(directory, without=["slots"] if is_off else [])) as scheduler:
        for slots in (math.inf,) if is_off else (math.inf, math.nan, -1, 0, 1e300, "1", [1]):
            request = {**REGISTER, "name": WORKER, "address": ADDRESS, "resources": {"slot": slots}}
            if not asyncio.run(is_refused(scheduler.address, scheduler.file, request)):
                taken.append(slots)
    return Result(bool(taken), f"a worker with {taken} slots is taken" if taken else "all are refused")


async def is_refused(address: str, file: Path, request: Mapping[str, Any]) -> bool:
    """The scheduler disconnects after a worker's message."""
    comm = await connect(address, 20, **read_join_file(file).security().get_connection_args("worker"))
    try:
        await comm.write(request)
        if request["op"] == "register-worker":
            answer = await asyncio.wait_for(comm.read(), 20)
            if answer["status"] != "error":
                return False
        await asyncio.wait_for(comm.read(), 20)
    except CommClosedError:
        return True
    finally:
        comm.abort()
    return False
