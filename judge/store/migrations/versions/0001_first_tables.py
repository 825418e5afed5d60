"""The first tables: contests, entries, matches, attempts, results, journal."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "contests",
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("contest", sa.String(128), sa.ForeignKey("contests.name"), primary_key=True),
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("entry", sa.Text, nullable=False),
        sa.Column("disqualified", sa.Text),
    )
    op.create_table(
        "matches",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("contest", sa.String(128), sa.ForeignKey("contests.name"), nullable=False, index=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("board", sa.Integer, nullable=False),
        sa.Column("game", sa.Integer, nullable=False),
        sa.Column("first", sa.String(128), nullable=False),
        sa.Column("second", sa.String(128), nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False, index=True),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.UniqueConstraint("contest", "number"),
    )
    op.create_table(
        "attempts",
        sa.Column("match", sa.String(32), sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("host", sa.String(128), nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("record", sa.String(64)),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("ended_at", sa.String(32)),
    )
    op.create_table(
        "results",
        sa.Column("match", sa.String(32), primary_key=True),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("winner", sa.Integer),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("record", sa.String(64), nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("finished_at", sa.String(32), nullable=False),
        sa.Column("fault_0", sa.String(16)),
        sa.Column("fault_1", sa.String(16)),
        sa.Column("replies_0", sa.Integer, nullable=False),
        sa.Column("replies_1", sa.Integer, nullable=False),
        sa.Column("charged_ms_0", sa.Float, nullable=False),
        sa.Column("charged_ms_1", sa.Float, nullable=False),
        sa.ForeignKeyConstraint(["match", "attempt"], ["attempts.match", "attempts.number"]),
    )
    op.create_table(
        "journal",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("contest", sa.String(128), sa.ForeignKey("contests.name"), nullable=False, index=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("event", sa.String(32), nullable=False),
        sa.Column("match", sa.String(32)),
        sa.Column("attempt", sa.Integer),
        sa.Column("text", sa.Text, nullable=False),
    )
