"""The public service of a contest: its pages, and the events of running games."""
