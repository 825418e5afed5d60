"""Games and contests in a terminal, and games against a person."""
