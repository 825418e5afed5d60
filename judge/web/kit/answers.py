"""The form of every JSON answer: printable ASCII, and one form for errors."""

import json
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict


class AsciiJSON(JSONResponse):
    """JSON in which everything except printable ASCII is escaped, so that it cannot control a terminal."""

    def render(self, content: Any) -> bytes:
        """The bytes of the answer."""
        return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()


class JsonAnswer(BaseModel):
    """An answer with these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class Problem(JsonAnswer):
    """Why the request was refused, with the fix."""

    error: str
