"""The journal of a contest: its events, their lines, and the state that follows from them."""
