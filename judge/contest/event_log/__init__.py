"""Writes the event log that live pages show: results, and moves after their delay."""
