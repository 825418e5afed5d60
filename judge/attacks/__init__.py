"""The attack suite: the judge's own attack programs, run against this host."""
