"""Gives submissions, practice games and notices the same queue columns."""

from alembic import op
from sqlalchemy import Column, String

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Upgrade from 0013."""
    op.add_column("practice_games", Column("due_at", String(32)))
    with op.batch_alter_table("notices") as notices:
        notices.alter_column("tries", new_column_name="failures")
        notices.alter_column("due_at", nullable=True)
