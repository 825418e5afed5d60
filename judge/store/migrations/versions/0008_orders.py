"""Organisers have tokens with a role, and their orders stand in a table and in the journal."""

from alembic import op
from sqlalchemy import Column, String, Text

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the orders, whose order a line of the journal tells of, and the role of a token."""
    op.create_table(
        "orders",
        Column("contest", String(128), primary_key=True),
        Column("id", String(64), primary_key=True),
        Column("at", String(32), nullable=False),
        Column("who", String(128), nullable=False),
        Column("action", String(32), nullable=False),
        Column("target", String(128), nullable=False),
        Column("why", Text, nullable=False),
        Column("done", Text, nullable=False),
    )
    op.add_column("journal", Column("who", String(128)))
    op.add_column("tokens", Column("role", String(16), nullable=False, server_default="author"))
