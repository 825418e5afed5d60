"""Display of games and contests in a terminal, and games against a person."""
