"""What the contest's host and a worker tell each other: JSON in bytes, which the receiver parses."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from judge.errors import InputError
from judge.matches import Match
from judge.parsing import parse_json
from judge.referee.bounds import LARGEST_RECORD
from judge.referee.spec import MatchSpec

LARGEST_ANSWER = 4 * LARGEST_RECORD
"""Bytes: a record and the states of four folders, as Base64."""


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")


class Order(_Message):
    """A match to play as one attempt; `match.spec` has its seed and its folders."""

    contest: str
    """For the log."""
    match: Match
    agents: tuple[str, ...]
    """Their digests."""
    states: Mapping[str, bytes]
    """The folders that it starts from, by digest."""
    images: Mapping[str, str]
    """What the images of its runtimes hold on the contest's host, by name; none where no container is used."""
    code: str
    """The digest of the judge's own code there."""

    @property
    def spec(self) -> MatchSpec:
        """What is played. Raises InputError if there is none."""
        return parse_json(MatchSpec, self.match.spec, "the order has no spec of a match")


class Played(_Message):
    """The match was played, or is void: its record as JSON, and the states in which its folders were left."""

    kind: Literal["played"] = "played"
    record: bytes
    states: Mapping[str, bytes]


class Lacks(_Message):
    """The worker has no files of these agents: the order must be given again with their pieces."""

    kind: Literal["lacks"] = "lacks"
    agents: tuple[str, ...]


class Unfit(_Message):
    """The worker cannot play for this contest until somebody changes it."""

    kind: Literal["unfit"] = "unfit"
    why: str = Field(max_length=2000)


class Broken(_Message):
    """The match has no end, such as when the process that played it was killed."""

    kind: Literal["broken"] = "broken"
    why: str = Field(max_length=2000)


Answer = Played | Lacks | Unfit | Broken
_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


def read_answer(data: object) -> Answer:
    """What a worker says. Raises InputError for anything else."""
    if not isinstance(data, bytes) or len(data) > LARGEST_ANSWER:
        raise InputError("the answer is not JSON in bytes, or too long")
    try:
        return _ANSWER.validate_json(data)
    except ValidationError:
        raise InputError("the answer is not one that a worker of this judge gives") from None
