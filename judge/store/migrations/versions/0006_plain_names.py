"""Columns are called as the judge calls what they hold."""

from alembic import op

revision = "0006"
down_revision = "0005"

RENAMED = (
    ("contests", "plan", "document"),
    ("entries", "place", "rank"),
    ("pairings", "board", "table"),
    ("pairings", "league", "group"),
    ("matches", "board", "table"),
    ("results", "outcome", "result"),
)


def upgrade() -> None:
    """Rename them, and the index that has one of them."""
    op.drop_index("ix_matches_brief", "matches")
    for table, old, new in RENAMED:
        # As SQL: SQLite can rename a column, and alembic would copy the whole table instead.
        op.execute(f'ALTER TABLE {table} RENAME COLUMN {old} TO "{new}"')
    columns = ["contest", "number", "id", "round", "table", "game", "first", "second"]
    op.create_index("ix_matches_rows", "matches", columns)
