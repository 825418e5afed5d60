"""Stratego logs of the UCC contest managers: reading and replaying."""
