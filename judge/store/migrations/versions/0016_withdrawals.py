"""Adds withdrawals to entries."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Upgrade from 0015."""
    op.add_column("entries", sa.Column("withdrawn", sa.Text()))
    op.add_column("entries", sa.Column("is_annulled", sa.Boolean(), nullable=False, server_default=sa.false()))
