"""The slot of each attempt."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add its column; of earlier attempts it is not known."""
    op.add_column("attempts", sa.Column("slot", sa.String(128), nullable=False, server_default=""))
