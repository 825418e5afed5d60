"""Moves display names from agents into a column."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Upgrade from 0017."""
    op.add_column("submissions", sa.Column("title", sa.String(128), nullable=False, server_default=""))
    rows = sa.table("submissions", sa.column("id"), sa.column("agent"), sa.column("title"))
    connection = op.get_bind()
    for row in connection.execute(sa.select(rows.c.id, rows.c.agent).where(rows.c.agent.is_not(None))).all():
        agent = json.loads(row.agent)
        if title := agent.pop("title", ""):
            changed = sa.update(rows).where(rows.c.id == row.id).values(agent=json.dumps(agent), title=title)
            connection.execute(changed)
