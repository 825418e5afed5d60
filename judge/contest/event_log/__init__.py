"""Writes the event log of a contest: results, and moves with their delay."""
