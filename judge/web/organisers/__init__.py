"""The organisers' pages: a contest's state, and orders."""
