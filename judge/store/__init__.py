"""What must never be lost: contests, matches, attempts and results, in SQLite or PostgreSQL."""
