"""This machine: what it has of what boxes need, and what to do about the rest."""
