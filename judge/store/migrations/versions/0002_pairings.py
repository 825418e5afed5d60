"""Pairings: a round stays as it was drawn, whoever is disqualified later; and byes have no match to be read from."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "pairings",
        sa.Column("contest", sa.String(128), sa.ForeignKey("contests.name"), primary_key=True),
        sa.Column("round", sa.Integer, primary_key=True),
        sa.Column("board", sa.Integer, primary_key=True),
        sa.Column("first", sa.String(128), nullable=False),
        sa.Column("second", sa.String(128)),
        sa.Column("meeting", sa.Integer, nullable=False),
        sa.Column("league", sa.String(128), nullable=False),
    )
