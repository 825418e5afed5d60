"""Adds the opponents of challenges to practice games."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Upgrade from 0016."""
    op.add_column("practice_games", sa.Column("challenged", sa.String(128), nullable=False, server_default=""))
