"""What the public may know of a running contest, as a log of events."""
