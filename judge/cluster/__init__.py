"""Plays a contest on many machines, connected over TLS.

`judge scheduler` forwards messages and stores nothing. Each playing machine runs `judge worker`. `judge contest run
--cluster` alone decides which games are played and count. All state is in its store, so all three can be killed and
restarted. See decision 0010.
"""
