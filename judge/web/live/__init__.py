"""The service by which everybody watches a contest: its pages, and the events of the games that are played."""
