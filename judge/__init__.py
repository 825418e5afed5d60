"""A contest judge for untrusted game-playing programs, each in its own container with limited resources."""

__version__ = "0.2.0"
