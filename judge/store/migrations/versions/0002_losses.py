"""Attempts that ended with their judge are counted, apart from failures. The role `act` is called `organiser`."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TABLES = ("submissions", "practice_games", "notices")


def upgrade() -> None:
    """Add the column, and rename the role."""
    op.execute("UPDATE tokens SET role = 'organiser' WHERE role = 'act'")
    for table in TABLES:
        op.add_column(table, sa.Column("losses", sa.Integer, nullable=False, server_default="0"))
