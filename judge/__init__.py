"""A contest judge: untrusted game-playing programs, each in its own capped container, ruled by one referee."""

__version__ = "0.1.0"
