"""Writes the export of a contest, complete or not at all."""
