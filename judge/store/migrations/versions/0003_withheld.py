"""Results that are withheld: the first round of a contest, and the round and salt of a line of the journal."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("contests", sa.Column("withheld_from", sa.Integer))
    op.add_column("contests", sa.Column("is_frozen", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("journal", sa.Column("withheld", sa.Integer))
    op.add_column("journal", sa.Column("salt", sa.String(32)))
