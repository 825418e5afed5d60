"""The public events of a running contest, and their log."""
