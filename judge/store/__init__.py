"""Durable state of contests: games, attempts and results, in SQLite or PostgreSQL."""
