"""What the contest's host and a worker tell each other: JSON in bytes, which the receiver parses."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from judge.base.errors import InputError
from judge.base.parsing import parse_json
from judge.contest_games import ScheduledGame
from judge.host.image_files import ImageFacts
from judge.referee.bounds import LARGEST_RECORD
from judge.referee.spec import GameSpec

LARGEST_ANSWER = 4 * LARGEST_RECORD
"""Bytes: a record and the states of four folders, as Base64."""

LARGEST_RECEIPT = 1 << 14
"""Bytes."""

LARGEST_PARCEL = 16 << 30
"""Bytes."""

DIGEST = "[0-9a-f]{64}"

LARGEST_PIECE_OF_MOVES = 1 << 16
"""Bytes."""

LARGEST_MOVES = 64 << 20
"""The largest number of bytes of moves that a scheduler passes on for one task. The record of a game has all."""

MAX_STATES = 8
"""Folders whose states an answer may have."""

MAX_LACKED = 100
"""Agents, and images, that a worker may ask for at once."""

Digest = Annotated[str, Field(pattern=rf"^{DIGEST}$")]
ImageName = Annotated[str, Field(max_length=300)]

Said = TypeVar("Said")


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")


class Order(_Message):
    """A game to play as one attempt; `game.spec` has its seed and its folders."""

    contest: str
    """For the log."""
    game: ScheduledGame
    agents: tuple[str, ...]
    """Their digests."""
    states: Mapping[str, bytes]
    """The folders that it starts from, by digest."""
    images: Mapping[str, str]
    """What the images of the contest's runtimes hold on its host, by name; none where no container is used."""
    code: str
    """The digest of the judge's own code there."""
    is_followed: bool = False
    """Whether its moves are to be sent while it is played."""

    @property
    def spec(self) -> GameSpec:
        """What is played. Raises InputError if there is none."""
        return parse_json(GameSpec, self.game.spec, "the order has no spec of a game")


class Played(_Message):
    """The game was played, or is void: its record as JSON, and the states in which its folders were left."""

    kind: Literal["played"] = "played"
    record: bytes
    states: Mapping[Digest, bytes] = Field(max_length=MAX_STATES)


class Lacks(_Message):
    """The worker has no files of these agents, or none of these images: they must be sent first."""

    kind: Literal["lacks"] = "lacks"
    agents: tuple[Digest, ...] = Field(max_length=MAX_LACKED)
    images: tuple[ImageName, ...] = Field(max_length=MAX_LACKED)


class Unfit(_Message):
    """The worker cannot play for this contest until somebody changes it."""

    kind: Literal["unfit"] = "unfit"
    why: str = Field(max_length=2000)


class Broken(_Message):
    """The game has no end, such as when the process that played it was killed."""

    kind: Literal["broken"] = "broken"
    why: str = Field(max_length=2000)


class Stopped(_Message):
    """The game was not wanted for a while, so the worker ended it. Then dask has no use for the answer, unless it has
    given the game to the same worker again."""

    kind: Literal["stopped"] = "stopped"
    why: str = Field(max_length=2000)


Answer = Played | Lacks | Unfit | Broken | Stopped
_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


class Parcel(_Message):
    """What is sent to a worker in pieces: a file with an agent's files, or with an image."""

    agent: str = Field(default="", pattern=rf"^({DIGEST})?$")
    """The agent's digest; empty for an image."""
    image: ImageFacts | None = None
    digest: str = Field(pattern=rf"^{DIGEST}$")
    """SHA-256 of the file."""
    size: int = Field(gt=0, le=LARGEST_PARCEL)
    """Bytes."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if bool(self.agent) == (self.image is not None):
            raise ValueError("a parcel is of an agent or of an image")
        return self

    def __str__(self) -> str:
        return f"the image {self.image.name}" if self.image else f"the agent {self.agent[:12]}"


class ParcelPiece(_Message):
    """Part of a parcel's file, which travels beside it; no bytes: to ask how much of the file there is."""

    parcel: Parcel
    begin: int = Field(ge=0, le=LARGEST_PARCEL)
    digest: str = Field(pattern=rf"^{DIGEST}$")
    """SHA-256 of this piece."""


class Arrived(_Message):
    """So much of a parcel is with the worker: the next piece begins there."""

    kind: Literal["arrived"] = "arrived"
    bytes: int = Field(ge=0, le=LARGEST_PARCEL)
    is_whole: bool = False
    """The worker has checked it, and has what was sent."""


class PieceOfMoves(_Message):
    """What the process of a running game tells its spectators: some bytes of it, which a worker sends as an event."""

    task: str
    """dask's name of the task in which the game is played."""
    begin: int = Field(ge=0)
    """How many bytes were sent before."""
    data: bytes = Field(max_length=LARGEST_PIECE_OF_MOVES)


Receipt = Arrived | Unfit
_RECEIPT: TypeAdapter[Receipt] = TypeAdapter(Receipt)


def topic_of(task: str) -> str:
    """The topic of dask's under which pieces of the moves of a task's game are sent: that of its contest."""
    return task.rpartition("-")[0]


def read_answer(data: object) -> Answer:
    """What a worker says of a game. Raises InputError for anything else."""
    return _read(_ANSWER, data)


def read_receipt(data: object) -> Receipt:
    """What a worker says of a piece. Raises InputError for anything else."""
    return _read(_RECEIPT, data)


def _read(kind: TypeAdapter[Said], data: object) -> Said:
    if not isinstance(data, bytes) or len(data) > LARGEST_ANSWER:
        raise InputError("the answer is not JSON in bytes, or too long")
    try:
        return kind.validate_json(data)
    except ValidationError:
        raise InputError("the answer is not one that a worker of this judge gives") from None
