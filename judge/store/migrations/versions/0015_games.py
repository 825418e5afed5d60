"""Renames the table `matches` to `games`; the number of a game in its pairing is its `leg`."""

from alembic import op

revision = "0015"
down_revision = "0014"

INDEXES = {
    "contest": ["contest"],
    "next": ["contest", "state", "number"],
    "rows": ["contest", "number", "id", "round", "table", "leg", "first", "second"],
}
CONSTRAINTS = {
    ("games", "matches_pkey"): "games_pkey",
    ("games", "matches_contest_fkey"): "games_contest_fkey",
    ("games", "matches_contest_number_key"): "games_contest_number_key",
    ("attempts", "attempts_match_fkey"): "attempts_game_fkey",
    ("results", "results_match_attempt_fkey"): "results_game_attempt_fkey",
}
"""PostgreSQL's constraint names; SQLite does not name them."""


def upgrade() -> None:
    """Upgrade from 0014."""
    for name in INDEXES:
        op.drop_index(f"ix_matches_{name}", "matches")
    op.rename_table("matches", "games")
    op.execute('ALTER TABLE games RENAME COLUMN "game" TO leg')
    for table in ("attempts", "results", "journal"):
        op.execute(f'ALTER TABLE {table} RENAME COLUMN "match" TO game')
    for name, columns in INDEXES.items():
        op.create_index(f"ix_games_{name}", "games", columns)
    if op.get_context().dialect.name == "postgresql":
        for (table, former), name in CONSTRAINTS.items():
            op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {former} TO {name}")
