"""The lines of a contest's journal are leaves of its log. Contests that were begun before have none."""

from alembic import op
from sqlalchemy import Column, Integer, String

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the number of the leaf, and the digest of what the line is about."""
    op.add_column("journal", Column("number", Integer))
    op.add_column("journal", Column("digest", String(64)))
    op.create_index("ix_journal_leaves", "journal", ["contest", "number"], unique=True)
