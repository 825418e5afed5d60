"""JSON messages between the contest's host and a worker."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from judge.base.errors import InputError
from judge.base.parsing import parse_json
from judge.contest_games import ScheduledGame
from judge.host.image_files import ImageParcel
from judge.record.bounds import MAX_RECORD_BYTES
from judge.record.spec import GameSpec
from judge.sandbox.box import ImageFacts

MAX_ANSWER_BYTES = 4 * MAX_RECORD_BYTES
"""Bytes: a record and four folders' states, as Base64."""

MAX_RECEIPT_BYTES = 1 << 14

MIN_BYTES_PER_S = 1 << 17
"""Rate of the slowest supported line, about 1 Mbit/s."""

MAX_PARCEL_BYTES = 16 << 30

DIGEST = "[0-9a-f]{64}"

MAX_MOVES_PIECE_BYTES = 1 << 16

MAX_MOVES_BYTES = 64 << 20

MAX_STATES = 8

MAX_LACKED = 100

Digest = Annotated[str, Field(pattern=rf"^{DIGEST}$")]
ImageName = Annotated[str, Field(max_length=300)]

Said = TypeVar("Said")


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")


class Order(_Message):
    """A game to play as one attempt; `game.spec` has seed and folders."""

    contest: str
    game: ScheduledGame
    agents: tuple[str, ...]
    states: Mapping[str, bytes]
    images: Mapping[str, ImageFacts]
    """Empty without containers."""
    code: str
    is_followed: bool = False

    @property
    def spec(self) -> GameSpec:
        """Raises InputError if it is missing."""
        return parse_json(GameSpec, self.game.spec, "the order has no spec of a game")


class Played(_Message):
    """A played or void game: record as JSON, and final folder states."""

    kind: Literal["played"] = "played"
    record: bytes
    states: Mapping[Digest, bytes] = Field(max_length=MAX_STATES)


class Lacks(_Message):
    """The worker first needs these agents' files or images."""

    kind: Literal["lacks"] = "lacks"
    agents: tuple[Digest, ...] = Field(max_length=MAX_LACKED)
    images: tuple[ImageName, ...] = Field(max_length=MAX_LACKED)


class Unfit(_Message):
    """The worker cannot play for this contest until an administrator acts."""

    kind: Literal["unfit"] = "unfit"
    why: str = Field(max_length=2000)


class Broken(_Message):
    """The game did not end, such as after a killed process."""

    kind: Literal["broken"] = "broken"
    why: str = Field(max_length=2000)


class Stopped(_Message):
    """The game was not wanted for a while. dask usually ignores this answer."""

    kind: Literal["stopped"] = "stopped"
    why: str = Field(max_length=2000)


Answer = Played | Lacks | Unfit | Broken | Stopped
_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


class Parcel(_Message):
    """An agent's files or an image, sent in pieces."""

    agent: str = Field(default="", pattern=rf"^({DIGEST})?$")
    """The agent's digest; empty for an image."""
    image: ImageParcel | None = None
    digest: str = Field(pattern=rf"^{DIGEST}$")
    size: int = Field(gt=0, le=MAX_PARCEL_BYTES)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if bool(self.agent) == (self.image is not None):
            raise ValueError("a parcel is of an agent or of an image")
        return self

    def __str__(self) -> str:
        return f"the image {self.image.name}" if self.image else f"the agent {self.agent[:12]}"


class ParcelPiece(_Message):
    """Part of a parcel, whose bytes travel next to it. Without bytes: requests progress."""

    parcel: Parcel
    begin: int = Field(ge=0, le=MAX_PARCEL_BYTES)
    digest: str = Field(pattern=rf"^{DIGEST}$")


class Arrived(_Message):
    """Offset of the next piece."""

    kind: Literal["arrived"] = "arrived"
    bytes: int = Field(ge=0, le=MAX_PARCEL_BYTES)
    is_whole: bool = False


class PieceOfMoves(_Message):
    """Bytes of a running game for spectators, sent as an event."""

    task: str
    begin: int = Field(ge=0)
    """Number of bytes sent earlier."""
    data: bytes = Field(max_length=MAX_MOVES_PIECE_BYTES)


Receipt = Arrived | Unfit
_RECEIPT: TypeAdapter[Receipt] = TypeAdapter(Receipt)


def transfer_s(size: float) -> float:
    """Seconds that the slowest supported line needs for a message of `size` bytes."""
    return max(0.0, min(size, MAX_ANSWER_BYTES)) / MIN_BYTES_PER_S


def topic_of(task: str) -> str:
    """dask topic for a contest's moves."""
    return task.rpartition("-")[0]


def read_answer(data: object) -> Answer:
    """Raises InputError."""
    return _read(_ANSWER, data)


def read_receipt(data: object) -> Receipt:
    """Raises InputError."""
    return _read(_RECEIPT, data)


def _read(kind: TypeAdapter[Said], data: object) -> Said:
    if not isinstance(data, bytes) or len(data) > MAX_ANSWER_BYTES:
        raise InputError("the answer is not JSON in bytes or is too long")
    try:
        return kind.validate_json(data)
    except ValidationError:
        raise InputError("the answer has an unknown or invalid form") from None
