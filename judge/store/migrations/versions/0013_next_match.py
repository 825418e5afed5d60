"""An index by which the next match of a contest is found, however many there are."""

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """It finds what the index of states alone has found, too."""
    op.create_index("ix_matches_next", "matches", ["contest", "state", "number"])
    op.drop_index("ix_matches_state", "matches")
