"""Contests: plan, entries, schedule, games and standings."""
