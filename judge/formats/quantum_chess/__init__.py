"""Quantum Chess logs of the UCC contest manager: reading and replaying."""
