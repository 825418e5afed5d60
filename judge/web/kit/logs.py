"""The server log: JSON lines on stderr, without tokens."""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

from judge.base.logs import adopt, to_json
from judge.store.tokens import PREFIX

_TOKEN = re.compile(re.escape(PREFIX) + r"[A-Za-z0-9_-]{16,}")


def configure() -> None:
    """Send this process's entries, including uvicorn's, to the server log."""
    to_json(sys.stderr, without_tokens, level=logging.INFO)
    adopt("uvicorn", level=logging.INFO, tracebacks=True)


def without_tokens(_logger: Any, _level: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Remove tokens from an event (structlog processor)."""
    return {key: _TOKEN.sub(f"{PREFIX}...", value) if isinstance(value, str) else value for key, value in event.items()}
