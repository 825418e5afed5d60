"""Notices to authors: where they are told, how far the journals were read for them, and what became of each."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "notice_targets",
        sa.Column("contest", sa.String(128), primary_key=True),
        sa.Column("author", sa.String(128), primary_key=True),
        sa.Column("webhook", sa.Text, nullable=False),
        sa.Column("secret", sa.String(128), nullable=False),
        sa.Column("email", sa.Text, nullable=False),
    )
    op.create_table(
        "notice_readings",
        sa.Column("contest", sa.String(128), primary_key=True),
        sa.Column("journal", sa.BigInteger, nullable=False),
        sa.Column("submission_journal", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "notices",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("contest", sa.String(128), nullable=False, index=True),
        sa.Column("author", sa.String(128), nullable=False),
        sa.Column("channel", sa.String(16), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False, index=True),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("due_at", sa.String(32), nullable=False),
        sa.Column("why", sa.Text, nullable=False),
    )
