"""Attempts that ended with their judge are counted, apart from failures."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TABLES = ("submissions", "practice_games", "notices")


def upgrade() -> None:
    """Add the column."""
    for table in TABLES:
        op.add_column(table, sa.Column("losses", sa.Integer, nullable=False, server_default="0"))
