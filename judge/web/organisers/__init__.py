"""The organisers' pages: the state of a contest, and orders."""
