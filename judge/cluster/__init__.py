"""Plays a contest on many machines, connected over TLS. See decision 0010."""
