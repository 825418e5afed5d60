"""From what a person brings to an agent that may play."""
