"""Events go to one place, in one form, and what libraries log goes with them."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from judge.base import logs


@pytest.fixture
def library() -> Iterator[logging.Logger]:
    parent = logging.getLogger("judge-test-library")
    yield logging.getLogger("judge-test-library.part")
    parent.handlers.clear()


def read(file: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_an_event_is_a_line_of_json() -> None:
    file = io.StringIO()
    logs.to_json(file, level=logging.INFO)
    structlog.get_logger().debug("too little")
    structlog.get_logger().info("two\nlines", agent="\x1b[2J")

    (event,) = read(file)
    assert file.getvalue().isascii()
    assert event["timestamp"].endswith("Z")
    assert ("two\nlines", "info", "\x1b[2J") == tuple(event[key] for key in ("event", "level", "agent"))


def test_events_go_elsewhere_for_a_while() -> None:
    outer, inner = io.StringIO(), io.StringIO()
    logs.to_json(outer)
    with logs.redirected(inner):
        structlog.get_logger().info("inside")
    structlog.get_logger().info("outside")

    assert (["outside"], ["inside"]) == tuple([event["event"] for event in read(file)] for file in (outer, inner))


@pytest.mark.parametrize("tracebacks", [False, True])
def test_library_log_records_are_events(library: logging.Logger, tracebacks: bool) -> None:
    file = io.StringIO()
    logs.adopt("judge-test-library", level=logging.WARNING, tracebacks=tracebacks)
    logs.to_json(file)  # afterwards: events go wherever they go at the moment
    library.info("too little")
    try:
        raise ValueError("of the library")
    except ValueError:
        library.exception("failed %d times", 2)

    (event,) = read(file)
    assert ("failed 2 times", "error", "judge-test-library.part") == tuple(
        event[key] for key in ("event", "level", "logger")
    )
    assert tracebacks is ("Traceback" in event.get("exception", ""))
    assert (None if tracebacks else "ValueError: of the library") == event.get("error")
