"""Games between agents in boxes."""
