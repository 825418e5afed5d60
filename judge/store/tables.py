"""The tables of the store. New stores are created from them; `migrations/` upgrades older ones.

contests    documents, after the announcement
entries     agents, locked in at the start
pairings    two agents at a table of a round, or one with a bye
games       pending -> running (attempt n) -> done, or held, or cancelled
attempts    running -> accepted | void | abandoned | superseded; accepted -> annulled
results     one of each finished game
files       with PostgreSQL: copies for another host (`judge.contest.take_snapshot`)
journal     events; each line is a leaf of the contest's log (`judge.transparency`)

submissions            received -> processing -> passed | refused | failed, and so on
submission_steps       processing stages
submission_journal     state changes: actor, time, reason
tokens                 hashes of tokens
orders                 each carried out once
practice_games         against house agents; states as in games
notice_targets         authors' addresses for notices
notice_readings        positions in the journals
notices                for one target: waiting -> sent, or given up
"""

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Enum,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from judge.contest_games import AttemptState, GameState
from judge.journal.events import SubmissionState
from judge.store.types import FileKind

metadata = MetaData()


def _word(kind: type[StrEnum]) -> Enum:
    return Enum(kind, native_enum=False, length=16, values_callable=lambda words: [word.value for word in words])


def _id() -> Column[int]:
    return Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def _queue_columns() -> tuple[Column[Any], ...]:
    return (
        Column("why", Text, nullable=False, default=""),
        Column("failures", Integer, nullable=False, default=0),
        # Attempts that ended with their judge.
        Column("losses", Integer, nullable=False, server_default="0"),
        Column("due_at", String(32)),
    )


contests = Table(
    "contests",
    metadata,
    Column("name", String(128), primary_key=True),
    Column("document", Text, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("state", String(16), nullable=False),
    # The source of all chance; private until the end.
    Column("secret", String(64)),
    # The first round whose results are withheld.
    Column("withheld_from", Integer),
    # Whether the standings were frozen, also if all is revealed.
    Column("is_frozen", Boolean, nullable=False, server_default=false()),
)

entries = Table(
    "entries",
    metadata,
    Column("contest", ForeignKey("contests.name"), primary_key=True),
    Column("name", String(128), primary_key=True),
    Column("rank", Integer, nullable=False),
    Column("entry", Text, nullable=False),
    Column("disqualified", Text),
    Column("withdrawn", Text),
    # Whether a withdrawn agent's results do not count.
    Column("is_annulled", Boolean, nullable=False, server_default=false()),
)

pairings = Table(
    "pairings",
    metadata,
    Column("contest", ForeignKey("contests.name"), primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("table", Integer, primary_key=True),
    Column("first", String(128), nullable=False),
    Column("second", String(128)),
    Column("meeting", Integer, nullable=False),
    Column("group", String(128), nullable=False),
)

games = Table(
    "games",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("contest", ForeignKey("contests.name"), nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("table", Integer, nullable=False),
    Column("leg", Integer, nullable=False),
    Column("first", String(128), nullable=False),
    Column("second", String(128), nullable=False),
    Column("spec", Text, nullable=False),
    Column("state", _word(GameState), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("why", Text, nullable=False),
    UniqueConstraint("contest", "number"),
    Index("ix_games_next", "contest", "state", "number"),
    # Covers the tables, without reading specs.
    Index("ix_games_rows", "contest", "number", "id", "round", "table", "leg", "first", "second"),
)

attempts = Table(
    "attempts",
    metadata,
    Column("game", ForeignKey("games.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", _word(AttemptState), nullable=False),
    Column("host", String(128), nullable=False),
    # Empty if unknown.
    Column("slot", Text, nullable=False, server_default=""),
    Column("why", Text, nullable=False),
    Column("record", String(64)),
    Column("started_at", String(32), nullable=False),
    Column("ended_at", String(32)),
)

results = Table(
    "results",
    metadata,
    Column("game", String(32), primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("winner", Integer),
    Column("result", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("record", String(64), nullable=False),
    Column("seconds", Float, nullable=False),
    # Of the moves (`GameResult.moves`).
    Column("moves", String(64), nullable=False, server_default=""),
    Column("finished_at", String(32), nullable=False),
    Column("fault_0", String(16)),
    Column("fault_1", String(16)),
    Column("replies_0", Integer, nullable=False),
    Column("replies_1", Integer, nullable=False),
    Column("charged_ms_0", Float, nullable=False),
    Column("charged_ms_1", Float, nullable=False),
    ForeignKeyConstraint(["game", "attempt"], ["attempts.game", "attempts.number"]),
)

files = Table(
    "files",
    metadata,
    # No foreign key: agents precede their contest.
    Column("contest", String(128), primary_key=True),
    Column("kind", _word(FileKind), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

journal = Table(
    "journal",
    metadata,
    _id(),
    Column("contest", ForeignKey("contests.name"), nullable=False, index=True),
    Column("at", String(32), nullable=False),
    Column("event", String(32), nullable=False),
    Column("game", String(32)),
    Column("attempt", Integer),
    # The other fields of the event (`judge.journal.codec`).
    Column("data", Text, nullable=False),
    # From 0: the index of its leaf.
    Column("number", Integer, nullable=False),
    # Of a published record, a document, an upload.
    Column("digest", String(64)),
    # Private, not part of the leaf.
    Column("who", String(128)),
    # The round with which the line becomes public; empty: it is public. Not part of the leaf.
    Column("withheld", Integer),
    # Keeps the content of a withheld leaf from being guessed by its hash.
    Column("salt", String(32)),
    Index("ix_journal_leaves", "contest", "number", unique=True),
)

submissions = Table(
    "submissions",
    metadata,
    _id(),
    # No foreign key: uploads precede the contest.
    Column("contest", String(128), nullable=False, index=True),
    Column("author", String(128), nullable=False),
    Column("name", String(128), nullable=False),
    Column("version", Integer),
    Column("filename", Text, nullable=False),
    Column("upload", String(64), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("received_at", String(32), nullable=False),
    Column("state", _word(SubmissionState), nullable=False, index=True),
    *_queue_columns(),
    Column("attempt", Integer, nullable=False, default=0),
    Column("worker", String(64), nullable=False, default=""),
    Column("digest", String(64)),
    Column("agent", Text),
    Column("log", String(64)),
    Column("report", String(64)),
    Column("title", String(128), nullable=False, server_default=""),
)

submission_steps = Table(
    "submission_steps",
    metadata,
    Column("submission", ForeignKey("submissions.id"), primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("stage", String(32), nullable=False),
    Column("ok", Boolean, nullable=False),
    Column("text", Text, nullable=False),
    Column("seconds", Float, nullable=False),
)

submission_journal = Table(
    "submission_journal",
    metadata,
    _id(),
    Column("submission", ForeignKey("submissions.id"), nullable=False, index=True),
    Column("at", String(32), nullable=False),
    Column("who", String(128), nullable=False),
    Column("state", _word(SubmissionState), nullable=False),
    Column("why", Text, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("contest", String(128), nullable=False, index=True),
    Column("author", String(128), nullable=False),
    Column("made_at", String(32), nullable=False),
    Column("made_by", String(128), nullable=False),
    Column("revoked_at", String(32)),
    Column("revoked_by", String(128)),
    # `author`, or the organiser roles `watch` and `act`; the author column has an organiser's name.
    Column("role", String(16), nullable=False, server_default="author"),
)

orders = Table(
    "orders",
    metadata,
    # No foreign key: orders precede the contest.
    Column("contest", String(128), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("at", String(32), nullable=False),
    Column("who", String(128), nullable=False),
    Column("action", String(32), nullable=False),
    Column("target", String(128), nullable=False),
    Column("why", Text, nullable=False),
    Column("done", Text, nullable=False),
)

practice_games = Table(
    "practice_games",
    metadata,
    _id(),
    Column("contest", String(128), nullable=False, index=True),
    Column("submission", ForeignKey("submissions.id"), nullable=False, index=True),
    Column("author", String(128), nullable=False),
    Column("number", Integer, nullable=False),
    # False: after the check.
    Column("by_author", Boolean, nullable=False),
    Column("asked_at", String(32), nullable=False),
    Column("state", _word(GameState), nullable=False, index=True),
    *_queue_columns(),
    Column("attempt", Integer, nullable=False, default=0),
    Column("worker", String(64), nullable=False, default=""),
    Column("agent", String(128), nullable=False),
    # From here on set at the game's end.
    Column("opponent", String(128), nullable=False, default=""),
    Column("seat", Integer, nullable=False, default=0),
    Column("verdict", String(16), nullable=False, default=""),
    Column("winner", Integer),
    Column("reason", Text, nullable=False, default=""),
    Column("record", String(64)),
    Column("seconds", Float),
    Column("ended_at", String(32)),
    # The agent that the author chose; empty: a house agent.
    Column("challenged", String(128), nullable=False, server_default=""),
    UniqueConstraint("submission", "number"),
)

notice_targets = Table(
    "notice_targets",
    metadata,
    Column("contest", String(128), primary_key=True),
    Column("author", String(128), primary_key=True),
    Column("webhook", Text, nullable=False),
    # Signs webhook calls, so a hash is not enough.
    Column("secret", String(128), nullable=False),
    Column("email", Text, nullable=False),
)

notice_readings = Table(
    "notice_readings",
    metadata,
    Column("contest", String(128), primary_key=True),
    Column("journal", BigInteger, nullable=False),
    Column("submission_journal", BigInteger, nullable=False),
)

notices = Table(
    "notices",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("contest", String(128), nullable=False, index=True),
    Column("author", String(128), nullable=False),
    Column("channel", String(16), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("at", String(32), nullable=False),
    Column("text", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", String(16), nullable=False, index=True),
    *_queue_columns(),
)
