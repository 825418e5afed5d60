"""Logging: where the events of this process go, and in which form. Only this module configures structlog.

Modules log with `structlog.get_logger()`. What libraries log with `logging` becomes an event like any other (`adopt`),
so that it goes wherever events go at that moment.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import structlog
from structlog.typing import Processor


def to_console(*processors: Processor) -> None:
    """Write events to stderr, one line each for a person; `processors` change an event before it is written."""
    structlog.configure(
        processors=[*processors, *structlog.get_config()["processors"]],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def to_json(file: TextIO, *processors: Processor, level: int = logging.NOTSET) -> None:
    """Write events of at least `level` to `file`, one JSON object a line, in ASCII, with the time in UTC.

    `processors` change an event before it is written. A traceback is text in the field `exception`, without the values
    of variables, which may be secret.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            *processors,
            structlog.processors.JSONRenderer(ensure_ascii=True, default=str),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file),
    )


@contextmanager
def redirected(file: TextIO) -> Iterator[None]:
    """Inside the block events go to `file` as by `to_json`, and after it where they went before."""
    before = structlog.get_config()
    to_json(file)
    try:
        yield
    finally:
        structlog.configure(**before)


def set_level(level: int) -> None:
    """Drop events below `level`, such as `logging.ERROR`."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(level))


def adopt(*names: str, level: int, tracebacks: bool = False) -> None:
    """Turn what the loggers `names` of `logging` and those below them log, from `level` on, into events.

    Of an exception an event has the type and the text as `error`, or with `tracebacks` the whole as `exception`.
    """
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers[:] = [_ToEvents(level, tracebacks)]
        logger.setLevel(level)
        logger.propagate = False


class _ToEvents(logging.Handler):
    # Not structlog.stdlib.ProcessorFormatter: it would write to a stream of its own, and in the form of one moment.

    def __init__(self, level: int, tracebacks: bool) -> None:
        super().__init__(level)
        self._tracebacks = tracebacks

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, object] = {}
        if record.exc_info and self._tracebacks:
            fields["exc_info"] = record.exc_info
        elif record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            fields["error"] = f"{type(error).__name__}: {error}"
        structlog.get_logger().log(record.levelno, record.getMessage(), logger=record.name, **fields)
