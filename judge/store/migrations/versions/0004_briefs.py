"""An index with all that a table needs of a match: a row with its spec is two kilobytes, and there are many rows."""

from alembic import op

revision = "0004"
down_revision = "0003"

COLUMNS = ["contest", "number", "id", "round", "board", "game", "first", "second"]


def upgrade() -> None:
    """Make it."""
    op.create_index("ix_matches_brief", "matches", COLUMNS)
