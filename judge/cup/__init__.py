"""A cup: several contests with one list of entries, one schedule and one site."""
