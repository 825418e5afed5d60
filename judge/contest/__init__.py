"""Contests: openings, pairings, rounds and standings; everything that decides which games are played."""
