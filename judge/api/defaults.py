"""Default values of the functions and commands."""

DEFAULT_POLICY = "gomocup-freestyle"
"""Policy of `match` and `check`."""
