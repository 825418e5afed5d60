"""Reads and writes finished games in the file formats of each game's community."""
