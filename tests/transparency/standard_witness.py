"""A witness of the standard (C2SP tlog-witness, tlog-cosignature), for tests. It imports nothing of judge."""

import base64
import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519, COSIGNATURE = 1, 4


def _hash(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def _key_id(name: str, kind: int, key: bytes) -> bytes:
    return _hash(f"{name}\n".encode(), bytes([kind]), key)[:4]


def is_continued(old: int, new: int, old_root: bytes, new_root: bytes, proof: list[bytes]) -> bool:
    """Whether a consistency proof holds (RFC 9162, 2.1.4.2)."""
    if not 0 <= old <= new:
        return False
    if old in (0, new):
        return not proof and old_root == (new_root if old == new else _hash())
    left, last, nodes = old - 1, new - 1, list(proof)
    while left & 1:
        left, last = left >> 1, last >> 1
    if left:
        if not nodes:
            return False
        first = second = nodes.pop(0)
    else:
        first = second = old_root
    for node in nodes:
        if last == 0:
            return False
        if left & 1 or left == last:
            first, second = _hash(b"\1", node, first), _hash(b"\1", node, second)
            while left and not left & 1:
                left, last = left >> 1, last >> 1
        else:
            second = _hash(b"\1", second, node)
        left, last = left >> 1, last >> 1
    return last == 0 and (first, second) == (old_root, new_root)


@dataclass
class StandardWitness:
    """Signs each checkpoint that continues the last one of its log. `logs` has the public keys of logs by origin."""

    name: str
    key: Ed25519PrivateKey
    logs: dict[str, Ed25519PublicKey] = field(default_factory=dict)
    now: Callable[[], int] = lambda: int(time.time())
    last: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """Size and root by origin."""

    @property
    def line(self) -> str:
        """Its public key: NAME+ID+KEY."""
        public = self.key.public_key().public_bytes_raw()
        encoded = base64.b64encode(bytes([COSIGNATURE]) + public).decode()
        return f"{self.name}+{_key_id(self.name, COSIGNATURE, public).hex()}+{encoded}"

    def signature(self, body: bytes) -> bytes:
        """The signature line under a checkpoint's text."""
        seconds, public = self.now(), self.key.public_key().public_bytes_raw()
        signed = self.key.sign(f"cosignature/v1\ntime {seconds}\n".encode() + body)
        data = _key_id(self.name, COSIGNATURE, public) + seconds.to_bytes(8) + signed
        return f"\u2014 {self.name} {base64.b64encode(data).decode()}\n".encode()

    def cosigned(self, note: bytes) -> bytes:
        """A checkpoint of any log with its signature added."""
        return note + self.signature(note[: note.index(b"\n\n") + 1])

    def add_checkpoint(self, request: bytes) -> tuple[int, str, bytes]:
        """Status, media type and body of the response."""
        try:
            head, note = request.split(b"\n\n", 1)
            first, *proof = head.decode().split("\n")
            body = note[: note.index(b"\n\n") + 1]
            origin, size, root, *_ = body.decode().split("\n")
            old, new, hashed = int(first.removeprefix("old ")), int(size), base64.b64decode(root)
            nodes = [base64.b64decode(line) for line in proof]
        except ValueError:
            return 400, "text/plain", b"not a request\n"
        if origin not in self.logs:
            return 404, "text/plain", b"unknown log\n"
        if not self._is_signed(origin, body, note[len(body) + 1 :]):
            return 403, "text/plain", b"not signed by the log\n"
        if old > new:
            return 400, "text/plain", b"the old size is larger\n"
        last, last_root = self.last.get(origin, (0, _hash()))
        if old != last or (old == new and last and last_root != hashed):
            return 409, "text/x.tlog.size", f"{last}\n".encode()
        if not is_continued(old, new, last_root, hashed, nodes):
            return 422, "text/plain", b"the proof does not hold\n"
        self.last[origin] = new, hashed
        return 200, "text/plain", self.signature(body)

    def _is_signed(self, origin: str, body: bytes, signatures: bytes) -> bool:
        key = self.logs[origin]
        identity = _key_id(origin, ED25519, key.public_bytes_raw())
        for line in signatures.decode().splitlines():
            mark, name, encoded = line.split(" ")
            data = base64.b64decode(encoded)
            if (mark, name, data[:4]) == ("\u2014", origin, identity):
                try:
                    key.verify(data[4:], body)
                except InvalidSignature:
                    return False
                return True
        return False


@dataclass
class Service:
    """A witness that answers over HTTP; the requests it got, and what it does instead of answering."""

    witness: StandardWitness
    url: str = ""
    does: Callable[[BaseHTTPRequestHandler], None] | None = None
    asked: list[bytes] = field(default_factory=list)

    @property
    def plan(self) -> str:
        """Its table in contest.toml."""
        return f'[[witnesses]]\nkey = "{self.witness.line}"\nurl = "{self.url}"\n'


@contextmanager
def serving(witness: StandardWitness) -> Iterator[Service]:
    service = Service(witness)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            service.asked.append(body)
            if service.does is not None:
                service.does(self)
                return
            status, kind, answer = witness.add_checkpoint(body) if self.path == "/add-checkpoint" else (404, "", b"")
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's own name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        yield service
        server.shutdown()
