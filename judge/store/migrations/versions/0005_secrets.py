"""The secret that a contest's chance follows from; the contests of before have none."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add it."""
    op.add_column("contests", sa.Column("secret", sa.String(64)))
