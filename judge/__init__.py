"""A contest judge for untrusted game-playing programs, each in its own container with limited resources."""

__version__ = "0.3.0.dev0"

DISTRIBUTION = "contest-judge"
"""The name that pip installs."""
