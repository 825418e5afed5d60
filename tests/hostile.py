"""Hostile bytes for readers of files, and a count of what a reader spends on them: lines of Python run, memory."""

import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import strategies as st

from judge.base.errors import InputError
from tests.examples import examples

STEPS, LEAST_STEPS = 300, 50_000
"""Lines of Python that a reader may run for each byte of its input, and for any input."""
MEMORY, MIN_MEMORY_BYTES = 200, 8 << 20
"""Bytes that a reader may allocate for each byte of its input, and for any input."""
LARGEST = 8_000

VALUES = (
    *("0", "-1", "1", "1e400", "nan", "-inf", "9" * 400, "0x10", "true", '""', '"a"', "'''", '"', "[]", "[[]]", "{}"),
    *("[" * 90 + "]" * 90, "{a=" * 40 + "1" + "}" * 40, "[" + "0," * 300 + "]", "[{}, {}]", "{a = 1, b = []}"),
    *("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59"),
    *("2026-03-29T02:30:00", "2026-13-01", "07:32:00", '"2026-01-01"'),
    *('"\\u0000"', '"a\\u0000.toml"', '"\\ud800"', '"\\U0010ffff"', f'"{"n" * 300}"', f'"{"n/" * 3000}"'),
    *(f'"{"é" * 200}"', '"."', '".."', '"/"', '"/dev/null"', '"../../etc/passwd"', '"~"', '"a.toml"', '"a:b"'),
    *('"a.toml:b"', '"\\\\"', '"-"', '"tls://[::1"', '"tcp://1.2.3.4"', '"gomocup"', '"docker"', '["a", "a"]', '[""]'),
    *('["\\u0000"]', f'["{"n" * 300}"]', f'["./{"n" * 300}", "{"n" * 300}"]', f'["java", "-cp", "{"n/" * 200}"]'),
    *('["mono"]', '["wine"]', '["./"]', '["."]'),
)
"""Values of TOML, right and wrong: numbers, moments, names of files that no system has."""

LINES = (
    *("[", "[[", "[a]", "[[a]]", "[a.b]", "= 1", "a", "a.b.c = 1", '"" = 1', "'a.b' = 1", "#", "\t", "\r", "\0", '"""'),
    *("a = {b = 1", "[[agents]]", "[format]", "[build]", "[game]", "[agents]", "\ufeff", "\u2028", "“a” = 1"),
)
"""Lines of TOML, right and wrong."""


def toml_files(valid: str) -> st.SearchStrategy[bytes]:
    """A valid file with lines that are changed, left out, doubled and added, some of them many times."""
    lines = valid.splitlines()
    place = st.integers(0, len(lines) - 1)
    value = st.sampled_from(VALUES) | st.text(max_size=8)
    line = st.sampled_from(LINES) | st.text(max_size=8)
    many = st.sampled_from((1, 1, 1, 2, 40, 400))
    changes = st.lists(
        st.tuples(st.just("set"), place, value, st.just(1))
        | st.tuples(st.just("put"), place, line, many)
        | st.tuples(st.just("drop"), place, st.just(""), st.just(1)),
        max_size=5,
    )

    def changed(edits: Sequence[tuple[str, int, str, int]]) -> bytes:
        found = list(lines)
        for kind, at, text, times in edits:
            if kind == "set":
                found[at] = f"{found[at].partition('=')[0]}= {text}"
            else:
                found[at] = "\n".join([text] * times)
        return "\n".join(found).encode("utf-8", "surrogatepass")[:LARGEST]

    return st.builds(changed, changes) | byte_changes(valid.encode())


def one_change_each(valid: str) -> Iterator[bytes]:
    """A valid file once for each of its lines with each of the values and of the lines; fewer with `--fast`."""
    lines = valid.splitlines()
    every = [
        (at, text)
        for at, line in enumerate(lines)
        for text in (*(f"{line.partition('=')[0]}= {value}" for value in VALUES), *LINES)
    ]
    for at, text in every[:: len(every) // examples(len(every))]:
        yield "\n".join([*lines[:at], text, *lines[at + 1 :]]).encode("utf-8", "surrogatepass")


def byte_changes(
    valid: bytes, pieces: Sequence[bytes] = (b"", b"\0", b"\xff", b'"', b"[", b"{", b"\n", b"\\")
) -> st.SearchStrategy[bytes]:
    """Valid bytes of which some are replaced, left out, doubled or repeated, or that end too early."""
    edits = st.lists(
        st.tuples(
            st.integers(0, len(valid)),
            st.sampled_from((0, 1, 4, 40)),
            st.sampled_from(pieces) | st.binary(max_size=4),
            st.sampled_from((1, 1, 1, 30, 1000)),
        ),
        max_size=4,
    )

    def changed(changes: Sequence[tuple[int, int, bytes, int]], end: int) -> bytes:
        found = bytearray(valid)
        for at, length, piece, times in changes:
            found[at : at + length] = piece * times
        return bytes(found[: end if end <= len(valid) // 2 else LARGEST])

    return st.builds(changed, edits, st.integers(0, 4 * len(valid)))


def refused(read: Callable[[Path], object], path: Path, data: bytes) -> bool:
    """Whether `read` refuses a file of these bytes. The refusal is printable, on one line, and names the file."""
    path.write_bytes(data)
    try:
        read(path)
    except InputError as error:
        said = str(error)
    else:
        return False
    assert path.name in said, f"the refusal does not name the file: {said}"
    assert said.isprintable(), f"the refusal is not printable: {said!r}"
    return True


def read_or_refuse(read: Callable[[Path], object], path: Path, data: bytes) -> None:
    """As `refused`; fails also if that costs more than the bounds."""
    assert_bounded(lambda: refused(read, path, data), len(data))


def assert_bounded(work: Callable[[], object], size: int) -> None:
    """Do some work, and fail if it costs more than the bounds for an input of `size` bytes.

    What costs more is done again: the first time it may import modules and fill caches.
    """
    most = LEAST_STEPS + STEPS * size, MIN_MEMORY_BYTES + MEMORY * size
    found = cost(work)
    if found[0] > most[0] or found[1] > most[1]:
        found = cost(work)
    assert found[0] <= most[0], f"{found[0]} lines of Python for {size} bytes"
    assert found[1] <= most[1], f"{found[1]} bytes of memory for {size} bytes"


def cost(work: Callable[[], object]) -> tuple[int, int]:
    """The number of lines of Python that some work runs, and the most bytes that it has allocated at once."""
    lines = 0

    def count(_frame: FrameType, event: str, _value: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    former = sys.gettrace()
    tracemalloc.start()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(former)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return lines, peak
