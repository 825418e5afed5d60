"""What must never be lost: contests, games, attempts and results, in SQLite or PostgreSQL."""
