"""Adds digests of the moves to results."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Upgrade from 0018."""
    op.add_column("results", sa.Column("moves", sa.String(64), nullable=False, server_default=""))
