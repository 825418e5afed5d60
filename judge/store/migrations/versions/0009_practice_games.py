"""Practice games: what passed plays them against house agents, and they count for nothing."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "practice_games",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("contest", sa.String(128), nullable=False, index=True),
        sa.Column("submission", sa.BigInteger, sa.ForeignKey("submissions.id"), nullable=False, index=True),
        sa.Column("author", sa.String(128), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("by_author", sa.Boolean, nullable=False),
        sa.Column("asked_at", sa.String(32), nullable=False),
        sa.Column("state", sa.String(16), nullable=False, index=True),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("worker", sa.String(64), nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("agent", sa.String(128), nullable=False),
        sa.Column("opponent", sa.String(128), nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("winner", sa.Integer),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("record", sa.String(64)),
        sa.Column("seconds", sa.Float),
        sa.Column("ended_at", sa.String(32)),
        sa.UniqueConstraint("submission", "number"),
    )
