"""Turns uploads into agents that may play."""
