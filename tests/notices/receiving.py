"""Receivers of webhooks on this machine, as friendly or hostile as a test wants them."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_network

Answer = Callable[[socket.socket, int], None]
"""Answers a request: its connection, and how many came before."""


@dataclass
class Receiver:
    """A receiver that has read these requests."""

    port: int
    requests: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?a=b"


def header(request: bytes, name: str) -> str:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return next(line.partition(": ")[2] for line in lines if line.startswith(f"{name}: "))


def says(*answers: bytes) -> Answer:
    """Each answer once, and the last one again."""

    def answer(stream: socket.socket, number: int) -> None:
        stream.sendall(answers[min(number, len(answers) - 1)])

    return answer


LOOPBACK = (ip_network("127.0.0.0/8"),)
OK, ERROR = b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 500 No\r\n\r\n"


@contextmanager
def receiving(answer: Answer, address: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver until the test is through with it; each connection has a thread."""
    with socket.create_server((address, 0)) as listener:
        receiver = Receiver(listener.getsockname()[1])
        ended = threading.Event()

        def serve(plain: socket.socket) -> None:
            with plain, suppress(OSError):
                plain.settimeout(20)
                stream = plain if tls is None else tls.wrap_socket(plain, server_side=True)
                request = b""
                while b"\r\n\r\n" not in request or len(request.partition(b"\r\n\r\n")[2]) < int(
                    header(request, "content-length")
                ):
                    if not (more := stream.recv(65536)):
                        return  # closed before the whole request had come
                    request += more
                number = len(receiver.requests)
                receiver.requests.append(request)
                answer(stream, number)

        def accept() -> None:
            while True:
                try:
                    stream, _ = listener.accept()
                except OSError:
                    return
                if ended.is_set():
                    stream.close()
                    return
                threading.Thread(target=serve, args=(stream,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            ended.set()
            with suppress(OSError):
                socket.create_connection((address, receiver.port), timeout=5).close()
            thread.join()
