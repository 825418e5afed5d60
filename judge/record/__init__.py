"""Stored data of a game: its policy, spec, seeds and transcript."""
