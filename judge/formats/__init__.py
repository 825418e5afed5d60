"""Reads and writes finished games in the formats of each game's community."""
