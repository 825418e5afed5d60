"""dask connections with limits on size and contents of messages, and on the names in pickles.

Nothing is decompressed. From peers with a worker's certificate only plain values and answers are read:

    peer                               bytes in a message
    calling worker                     WORKER_MESSAGE
    worker that is asked for answers   WORKER_MESSAGE and its announced answers
    contest or scheduler               MAX_MESSAGE_BYTES

Nothing is read from peers without a certificate.

dask requires pickle, any peer may send one, and a pickle can call any function. Python raises an audit event for each
name; the hook refuses all but those of values and of tasks that play games.
"""

import asyncio
import pickle
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ssl import SSLError
from typing import Any

import msgpack  # type: ignore[import-untyped]
from distributed.comm import registry
from distributed.comm import tcp as dask_tcp
from distributed.comm.addressing import parse_host_port
from distributed.comm.core import Comm, CommClosedError
from distributed.comm.utils import from_frames
from distributed.protocol import compression, core
from distributed.protocol import utils as protocol_utils
from distributed.protocol.serialize import Serialized, pickle_dumps, pickle_loads, register_serialization_family
from distributed.protocol.utils import unpack_frames
from tornado.iostream import IOStream, StreamClosedError

from judge.base.logs import get_logger
from judge.base.text import printable
from judge.cluster.messages import MAX_ANSWER_BYTES
from judge.cluster.security import WORKERS_NAME

WORKER_MESSAGE = 1 << 20
"""Bytes of a worker's message, without an answer's."""

MAX_MESSAGE_BYTES = 2 * MAX_ANSWER_BYTES

MAX_VALUES = 20_000

MAX_ARRAY = 1 << 14
"""msgpack allocates the announced length of a list once per level of nesting."""

MAX_WAITING = 128
"""Connections without a certificate; a new one closes the oldest."""

MAX_WAITING_PER_ADDRESS = 32

HANDSHAKE_S = 20.0
"""Timeout of the TLS handshake, and again of dask's."""

_BYTES_TYPES = frozenset(pickle.dumps(bytes, version) for version in range(2, pickle.HIGHEST_PROTOCOL + 1))

_LENGTH = struct.Struct("Q")

log = get_logger()


def _any(_address: str) -> int:
    return MAX_ANSWER_BYTES


_announced: Callable[[str], int] = _any


class MessageRefusedError(CommClosedError):
    """A message is too long or has forbidden contents."""


def worker_of(comm: Comm) -> str | None:
    """Name in a worker's certificate, else None."""
    certificate = comm.extra_info.get("peercert")
    if not certificate:
        return None
    issuer = {key: value for part in certificate.get("issuer", ()) for key, value in part}
    if issuer.get("commonName") != WORKERS_NAME:
        return None
    names = certificate.get("subjectAltName", ())
    return str(names[0][1]) if names else ""


def bound_messages() -> None:
    """Limit new connections of this process and disable compression."""
    registry.backends.update(tcp=_TCPBackend(), tls=_TLSBackend())
    plain = compression.Compression(None, _unchanged, _unchanged)
    compression.compressions.clear()
    compression.compressions.update({None: plain, False: plain, "auto": plain})
    vars(protocol_utils)["msgpack_opts"]["max_array_len"] = MAX_ARRAY
    vars(core)["msgpack"] = _BoundedMsgpack


def expect_answers(announced: Callable[[str], int]) -> None:
    """Limit answers to `announced(address)` bytes."""
    global _announced
    _announced = announced


def plain_message(frames: Sequence[Any]) -> Any:
    """Read a worker's message: plain values and unread data. Raises ValueError."""
    count = 0

    def counted(value: Any) -> Any:
        nonlocal count
        count += 1
        if count > MAX_VALUES:
            raise ValueError(f"more than {MAX_VALUES} lists and maps")
        return value

    def hook(value: Mapping[Any, Any]) -> Any:
        counted(value)
        if "__Pickled__" in value or "__Enum__" in value or "__Set__" in value:
            raise ValueError("a value that is not plain")
        if "__Serialized__" not in value:
            return value
        place = value["__Serialized__"]
        if type(place) is not int or not 0 < place < len(frames) or len(value) != 1:
            raise ValueError("data that is not in the message")
        return _data(frames, place)

    return msgpack.loads(
        frames[0], object_hook=hook, list_hook=counted, use_list=False, max_array_len=MAX_ARRAY, **_STRICT
    )


_STRICT = {"strict_map_key": False, "raw": False}


def _data(frames: Sequence[Any], place: int) -> Serialized:
    """Other headers could repeat bytes or contain a pickle: data of other types becomes empty bytes."""
    if len(frames[place]) > 1 << 16:
        raise ValueError("data with a header that is too long")
    header = msgpack.loads(frames[place], max_array_len=1 << 10, use_list=False, **_STRICT)
    count = header.get("num-sub-frames") if isinstance(header, dict) else None
    if type(count) is not int or not 0 <= count < len(frames) - place:
        raise ValueError("data of more parts than there are")
    if header.get("type-serialized") not in _BYTES_TYPES or header.get("serializer") != "dask":
        count = 0
    elif any(header.get("compression") or ()):
        raise ValueError("compressed data")
    plain = {
        "sub-header": {},
        "type": "bytes",
        "type-serialized": pickle.dumps(bytes, 4),
        "serializer": "dask",
        "split-num-sub-frames": (count,),
        "split-offsets": (0,),
        "compression": (None,) * count,
        "num-sub-frames": count,
    }
    return Serialized(plain, list(frames[place + 1 : place + 1 + count]))


class _BoundedMsgpack:
    """dask also reads parts' headers with it."""

    dumps = staticmethod(msgpack.dumps)

    @staticmethod
    def loads(data: Any, **options: Any) -> Any:
        return msgpack.loads(data, **{"max_array_len": MAX_ARRAY, **options})


def _unchanged(data: Any) -> Any:
    return data


class _TCP(dask_tcp.TCP):
    is_called = False

    async def read(self, deserializers: Any = None) -> Any:
        stream = self.stream
        if stream is None:
            raise CommClosedError
        worker = worker_of(self)
        frames = list[Any]()
        try:
            frames = await self._frames(stream, self._limit(worker))
        except (StreamClosedError, SSLError) as error:
            self.stream = None
            self._closed = True
            dask_tcp.convert_stream_closed_error(self, error)
        except BaseException:
            self.abort()
            raise
        if worker is not None:
            try:
                return plain_message(frames)
            except Exception as error:  # noqa: BLE001 - whatever msgpack raises
                log.warning("a message of a worker cannot be read", worker=printable(worker, 80), why=f"{error!r:.200}")
                self.abort()
                raise MessageRefusedError("it cannot be read") from None
        try:
            return await from_frames(
                frames, deserialize=self.deserialize, deserializers=deserializers, allow_offload=self.allow_offload
            )
        except EOFError:
            self.abort()
            raise CommClosedError("truncated data") from None

    async def _frames(self, stream: IOStream, limit: int) -> list[Any]:
        (first,) = _LENGTH.unpack(await stream.read_bytes(_LENGTH.size))
        self._check(first, limit)
        data = await dask_tcp.read_bytes_rw(stream, first)
        try:
            frames, others = unpack_frames(data, partial=True)
        except (struct.error, ValueError):
            raise MessageRefusedError("its parts have no lengths") from None
        self._check(first + sum(others), limit)
        found = list[Any](frames)
        for length in others:
            found.append(await dask_tcp.read_bytes_rw(stream, length))
        if not found:
            raise MessageRefusedError("an empty message")
        return found

    def _check(self, length: int, limit: int) -> None:
        if length > limit:
            sender = worker_of(self) or self.peer_address
            log.warning("a message is refused: it is too long", sender=sender, bytes=length, limit=limit)
            raise MessageRefusedError(f"a message of {length} bytes; at most {limit} are allowed")

    def _limit(self, worker: str | None) -> int:
        if worker is None:
            return MAX_MESSAGE_BYTES
        if self.is_called:
            return WORKER_MESSAGE
        return WORKER_MESSAGE + min(_announced(self.peer_address), MAX_ANSWER_BYTES)


class _TLS(_TCP, dask_tcp.TLS):
    pass


class _TCPConnector(dask_tcp.TCPConnector):
    comm_class = _TCP


class _TLSConnector(dask_tcp.TLSConnector):
    comm_class = _TLS


class _Listener(dask_tcp.BaseTCPListener):
    async def on_connection(self, comm: Comm, handshake_overrides: dict[str, Any] | None = None) -> None:
        if isinstance(comm, _TCP):
            comm.is_called = True
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                await super().on_connection(comm, handshake_overrides)
        except CommClosedError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the other end has sent
            comm.abort()
            raise CommClosedError(f"no handshake: {error!r:.200}") from None


class _TCPListener(_Listener, dask_tcp.TCPListener):
    comm_class = _TCP


class _TLSListener(_Listener, dask_tcp.TLSListener):
    comm_class = _TLS

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)  # type: ignore[no-untyped-call]
        self._waiting: dict[IOStream, str] = {}

    async def _prepare_stream(self, stream: IOStream, address: str) -> IOStream | None:
        host = parse_host_port(address)[0]
        self._make_room(host)
        self._waiting[stream] = host
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                prepared: IOStream | None = await super()._prepare_stream(  # type: ignore[no-untyped-call]
                    stream, address
                )
        except TimeoutError:
            prepared = None
        finally:
            self._waiting.pop(stream, None)
        if prepared is None:
            stream.close()
        return prepared

    def _make_room(self, host: str) -> None:
        same = [stream for stream, other in self._waiting.items() if other == host]
        if len(same) >= MAX_WAITING_PER_ADDRESS:
            oldest = same[0]
        elif len(self._waiting) >= MAX_WAITING:
            oldest = next(iter(self._waiting))
        else:
            return
        # Each of several simultaneous connections closes another one.
        del self._waiting[oldest]
        oldest.close()


class _TCPBackend(dask_tcp.TCPBackend):
    _connector_class = _TCPConnector
    _listener_class = _TCPListener


class _TLSBackend(dask_tcp.TLSBackend):
    _connector_class = _TLSConnector
    _listener_class = _TLSListener


# --- pickles ---------------------------------------------------------------------------------------------------------

VALUES = frozenset({("builtins", "bytes"), ("builtins", "memoryview")})

TASKS = VALUES | {
    ("dask._expr", "LLGExpr"),
    ("dask._expr", "Expr._reconstruct"),
    ("dask._task_spec", "Alias"),
    ("dask._task_spec", "Task"),
    ("distributed.shuffle._worker_plugin", "ShuffleWorkerPlugin"),
    ("judge.cluster.tasks", "play"),
    ("judge.cluster.tasks", "receive"),
}

_thread = threading.local()


class PickleRefusedError(AttributeError):
    """A forbidden name in a pickle, as if it did not exist."""


def refuse_pickles(allowed: frozenset[tuple[str, str]], *, except_here: bool = False) -> None:
    """Refuse other names in all pickles of this process, permanently. `except_here`: not in this thread."""
    _thread.reads_own = except_here

    def hook(event: str, names: tuple[Any, ...]) -> None:
        if event == "pickle.find_class" and names not in allowed and not getattr(_thread, "reads_own", False):
            raise PickleRefusedError(f"a pickle that names {names[0]}.{names[1]} is refused")

    sys.addaudithook(hook)
    register_serialization_family("pickle", pickle_dumps, _load)


@contextmanager
def own_pickles() -> Iterator[None]:
    """Allow all names in this thread, for pickles of child processes."""
    before, _thread.reads_own = getattr(_thread, "reads_own", False), True
    try:
        yield
    finally:
        _thread.reads_own = before


def _load(header: dict[str, Any], frames: Sequence[Any]) -> Any:
    """Return a refused error: raising it would make dask close the connection."""
    try:
        return pickle_loads(header, list(frames))
    except PickleRefusedError as error:
        return error
