"""The referee of one game, with its blame table, transcript and data models."""
