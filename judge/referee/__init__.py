"""The referee of one game, its blame table, and the replay and steps of a transcript."""
