"""Cores, cgroups, counters, users and pipes of this host."""
