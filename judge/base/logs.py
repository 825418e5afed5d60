"""Destination and format of log events. Only this module imports structlog.

`adopt` turns messages of libraries into events. structlog is imported with the first event, because the import is slow;
earlier configuration is applied then.
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from structlog.typing import Processor

_waiting: list[Callable[[], None]] = []

_applying = threading.RLock()

_bound: ContextVar[Mapping[str, object]] = ContextVar("judge_log", default={})  # noqa: B039 - never changed in place


def _structlog() -> ModuleType:
    import structlog  # see the module's docstring

    with _applying:
        while _waiting:
            _waiting.pop(0)()
    return structlog


def _configure(configuration: Callable[[], None]) -> None:
    with _applying:
        _waiting.append(configuration)
    if "structlog" in sys.modules:
        _structlog()


class Logger:
    """Writes events with this logger's fields and those of `bound`."""

    def __init__(self, fields: Mapping[str, object]) -> None:
        self._fields = fields

    def log(self, level: int, event: str, /, **fields: object) -> None:
        """`level` is a level of `logging`."""
        _structlog().get_logger().log(level, event, **{**_bound.get(), **self._fields, **fields})

    def debug(self, event: str, /, **fields: object) -> None:
        self.log(logging.DEBUG, event, **fields)

    def info(self, event: str, /, **fields: object) -> None:
        self.log(logging.INFO, event, **fields)

    def warning(self, event: str, /, **fields: object) -> None:
        self.log(logging.WARNING, event, **fields)

    def error(self, event: str, /, **fields: object) -> None:
        self.log(logging.ERROR, event, **fields)


def get_logger(**fields: object) -> Logger:
    """The logger adds these fields to its events."""
    return Logger(fields)


@contextmanager
def bound(**fields: object) -> Iterator[None]:
    """Add these fields to all events of this thread."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def to_console(*processors: "Processor") -> None:
    """One readable line on stderr per event; `processors` change it first."""
    file = sys.stderr

    def configure() -> None:
        import structlog

        structlog.configure(
            processors=[*processors, *structlog.get_config()["processors"]],
            logger_factory=structlog.PrintLoggerFactory(file),
        )

    _configure(configure)


def to_json(file: TextIO, *processors: "Processor", level: int = logging.NOTSET) -> None:
    """Write events of at least `level` as JSON lines, in ASCII, with UTC times.

    `processors` change an event first. The field `exception` is a traceback without the values of variables, which may
    be secret.
    """

    def configure() -> None:
        import structlog

        structlog.configure(
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
                *processors,
                structlog.processors.JSONRenderer(ensure_ascii=True, default=str),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(level),
            logger_factory=structlog.WriteLoggerFactory(file),
        )

    _configure(configure)


@contextmanager
def redirected(file: TextIO) -> Iterator[None]:
    """As `to_json`, in the block."""
    before = _structlog().get_config()
    to_json(file)
    try:
        yield
    finally:
        _structlog().configure(**before)


def set_level(level: int) -> None:
    """Drop events below `level`, such as `logging.ERROR`."""

    def configure() -> None:
        import structlog

        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(level))

    _configure(configure)


def adopt(*names: str, level: int, tracebacks: bool = False) -> None:
    """Turn messages of these `logging` loggers and their children into events.

    An exception becomes the field `error` (type and text), or with `tracebacks` the field `exception`.
    """
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers[:] = [_ToEvents(level, tracebacks)]
        logger.setLevel(level)
        logger.propagate = False


class _ToEvents(logging.Handler):
    # structlog.stdlib.ProcessorFormatter has a separate stream and a fixed format.

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
        get_logger(logger=record.name).log(record.levelno, record.getMessage(), **fields)
