"""The service's log: an event a line, as JSON, on stderr; no token ever stands in it, whoever put one where."""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

from judge.store.tokens import PREFIX

_TOKEN = re.compile(re.escape(PREFIX) + r"[A-Za-z0-9_-]{16,}")


def configure() -> None:
    """From now on everything that is logged in this process goes there, uvicorn's own lines too."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # A plain traceback: one with the values of variables would tell what they hold.
            structlog.processors.format_exc_info,
            without_tokens,
            structlog.processors.JSONRenderer(ensure_ascii=True, default=str),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    for name in ("uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [_ToStructlog()] if name == "uvicorn" else []
        logger.setLevel(logging.INFO)
        logger.propagate = name != "uvicorn"


def without_tokens(_logger: Any, _level: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """For structlog: an event whose texts show no token."""
    return {
        key: _TOKEN.sub(f"{PREFIX}...", value) if isinstance(value, str) else value
        for key, value in event.items()
    }


class _ToStructlog(logging.Handler):
    """What a library logs, as an event of ours."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger().log(
            record.levelno, record.getMessage(), source=record.name, exc_info=record.exc_info
        )
