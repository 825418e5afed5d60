"""Pages for the authors of agents: their submissions as they are processed, and what only they see of their games."""
